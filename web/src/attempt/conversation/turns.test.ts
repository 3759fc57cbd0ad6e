import { expect, it } from "vitest";
import type { AttemptSnapshot, ExecutionProcess, Usage } from "../../api/types";
import { turnsOf } from "./turns";

const run = (id: string, started_at: string, status = "completed") =>
  ({ id, started_at, status, run_reason: "codingagent", dropped: false }) as unknown as ExecutionProcess;
const snapshot = (id: string, run: string, created_at: string, why = "turn") =>
  ({
    id,
    execution_process_id: run,
    created_at,
    why,
    changes: { added: 1, changed: 2, deleted: 0 },
  }) as unknown as AttemptSnapshot;

it("each turn knows the snapshots before and after it, over several runs", () => {
  const snapshots = [
    snapshot("s3", "b", "2026-01-01T00:00:09Z"),
    snapshot("x", "b", "2026-01-01T00:00:08Z", "restore"),
    snapshot("s2", "a", "2026-01-01T00:00:05Z"),
    snapshot("s1", "a", "2026-01-01T00:00:03Z"),
  ];
  const usage = [{ key: "a#2", cost_micros: 1500 }] as unknown as Usage[];
  const turns = turnsOf(
    [run("a", "2026-01-01T00:00:01Z"), run("b", "2026-01-01T00:00:07Z")],
    snapshots,
    usage,
  );
  expect(turns.factsOf("a", 1)).toMatchObject({ before: null, files: 3, startedAt: "2026-01-01T00:00:01Z" });
  expect(turns.factsOf("a", 1).after?.id).toBe("s1");
  expect(turns.factsOf("a", 2)).toMatchObject({ costMicros: 1500, startedAt: "2026-01-01T00:00:03Z" });
  expect(turns.factsOf("a", 2).before?.id).toBe("s1");
  expect(turns.factsOf("b", 1).before?.id).toBe("s2");
});

it("a turn that still runs can go back to what was before it", () => {
  const turns = turnsOf(
    [run("a", "2026-01-01T00:00:01Z"), run("b", "2026-01-01T00:00:07Z", "running")],
    [snapshot("s1", "a", "2026-01-01T00:00:03Z")],
    [],
  );
  expect(turns.factsOf("b", 1).before?.id).toBe("s1");
  expect(turns.factsOf("b", 1).after).toBeNull();
});
