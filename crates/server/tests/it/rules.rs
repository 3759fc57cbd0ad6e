//! Rules of a project, the record of what was asked, and what was used, over the API.

use serde_json::{Value, json};

use crate::world::{World, eventually, id};

fn listed(world: &World, query: &str) -> Vec<Value> {
    world.get(&format!("/api/approvals{query}")).data().as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_put_and_listed_in_their_order_and_answer_what_they_fit() {
    let world = World::new().await;
    let project = world.project();
    let path = format!("/api/projects/{project}/rules");
    assert_eq!(world.get(&path).data(), json!([]));
    let rules = json!([
        {"effect": "deny", "about": "tool", "pattern": "WebFetch"},
        {"effect": "allow", "about": "command", "pattern": "git status"},
        {"effect": "allow", "about": "read_only"},
    ]);
    let put = world.put(&path, &json!({"rules": rules})).data();
    assert_eq!(put[1]["text"], "allow command git status");
    assert_eq!(
        put[2],
        json!({
            "effect": "allow", "about": "read_only", "pattern": null, "text": "allow read-only tools",
        })
    );
    assert_eq!(world.get(&path).data(), put);

    let script = "permit Bash {\"command\": \"git status\"}\npermit Bash {\"command\": \"git status; rm x\"}";
    let attempt = id(&world.start(&project, "Ask", script)["attempt"]);
    let open = eventually(|| listed(&world, "?state=open").first().cloned());
    assert_eq!(open["input"]["command"], "git status; rm x");
    let ask = open["approval_id"].as_str().unwrap();
    world.post(&format!("/api/approvals/{ask}/respond"), &json!({"approved": false, "comment": "no"})).json();
    world.wait_for(&attempt, "finished");

    let record = listed(&world, &format!("?task_attempt_id={attempt}"));
    let told: Vec<_> =
        record.iter().map(|ask| (&ask["state"], &ask["answered_by"], &ask["answer"])).collect();
    // A test's client says nothing of itself.
    let (denied, by, no) = (json!("denied"), json!("owner (API)"), json!("no"));
    let (approved, rule) = (json!("approved"), json!("rule 2: allow command git status"));
    assert_eq!(told, [(&denied, &by, &no), (&approved, &rule, &Value::Null)]);
    assert!(record.iter().all(|ask| ask["answered_at"].is_string()));
    assert_eq!(listed(&world, &format!("?project_id={project}&limit=1")).len(), 1);
    assert_eq!(listed(&world, &format!("?project_id={project}&state=expired")).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_makes_no_sense_is_refused_by_its_place() {
    let world = World::new().await;
    let path = format!("/api/projects/{}/rules", world.project());
    let refused = [
        (json!({}), "`rules` must be a list"),
        (json!({"rules": ["x"]}), "`rules` must be a list of objects"),
        (json!({"rules": [{"about": "tool", "pattern": "x"}]}), "`rules[0].effect` must be given"),
        (
            json!({"rules": [{"effect": "maybe", "about": "tool"}]}),
            "`rules[0].effect` must be one of `allow`",
        ),
        (json!({"rules": [{"effect": "allow", "about": "tool"}]}), "`rules[0].pattern` must be the name"),
        (
            json!({"rules": [{"effect": "allow", "about": "command", "pattern": "ls; rm"}]}),
            "`rules[0].pattern` \"ls; rm\" is no single command",
        ),
    ];
    for (body, told) in refused {
        let message = world.put(&path, &body).refusal(422);
        assert!(message.contains(told), "{body}: {message}");
    }
    world.get("/api/projects/6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c/rules").refusal(404);
    world.get("/api/approvals?state=asleep").refusal(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unattended_attempt_asks_nobody() {
    let world = World::new().await;
    let project = world.project();
    let body = json!({
        "task": {"project_id": project, "title": "Alone", "description": "ask which?\npermit Bash {}"},
        "executor_profile_id": {"executor": "SCRIPTED"}, "base_branch": "main", "unattended": true,
    });
    let started = world.post("/api/tasks/create-and-start", &body).data();
    assert_eq!(started["attempt"]["unattended"], true);
    let attempt = id(&started["attempt"]);
    world.wait_for(&attempt, "finished");
    let record = listed(&world, &format!("?task_attempt_id={attempt}"));
    let told: Vec<_> = record.iter().map(|ask| (&ask["state"], &ask["answered_by"])).collect();
    let (approved, denied, by) = (json!("approved"), json!("denied"), json!("--yes"));
    assert_eq!(told, [(&approved, &by), (&denied, &by)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_used_is_summed_up_by_a_key() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Use", "use 100 20 3 4500")["attempt"]);
    let finished = world.wait_for(&attempt, "finished");
    assert_eq!((&finished["input_tokens"], &finished["cost_micros"]), (&json!(100), &json!(4500)));
    for by in ["day", "agent", "project", "task", "attempt", "turn"] {
        let sums = world.get(&format!("/api/usage?by={by}&project_id={project}")).data();
        let sum = &sums[0];
        assert_eq!(
            (&sum["turns"], &sum["input_tokens"], &sum["output_tokens"]),
            (&json!(1), &json!(100), &json!(20))
        );
        assert_eq!((&sum["cache_read_tokens"], &sum["cost_micros"]), (&json!(3), &json!(4500)));
        assert_eq!(sum["cache_creation_tokens"], Value::Null, "what is not told is not 0");
    }
    let key = world.get("/api/usage?by=agent").data()[0]["key"].clone();
    assert_eq!(key, "SCRIPTED");
    assert!(world.get("/api/usage?by=year").refusal(400).contains("`by` must be day"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_told_with_its_time() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Limit", "limit 3600000")["attempt"]);
    let limited = world.wait_for(&attempt, "limited");
    let limited = match limited["status"] == "running" {
        true => eventually(|| Some(world.attempt(&attempt)).filter(|attempt| attempt["status"] == "failed")),
        false => limited,
    };
    assert_eq!(limited["state"], "limited");
    assert!(limited["limited_until"].as_str().unwrap().ends_with('Z'));
    assert_eq!(limited["resume_when_limited"], Value::Null);
}
