// The list beside a conversation: what else is going on in the project, grouped by what it needs.

import { Link } from "wouter";
import { useWorld } from "../api/world";
import { StateMark } from "../ui/StateMark";
import styles from "./Neighbours.module.css";
import { neighboursOf } from "./neighbours";

type Props = { project: string; task: string | null };

export function Neighbours({ project, task }: Props) {
  const groups = useWorld((world) => neighboursOf(world, project));
  return (
    <nav id="neighbours" className={styles.list} aria-label="Neighbours" tabIndex={-1}>
      {groups.map(({ words, neighbours }) => (
        <section key={words}>
          <h2>
            {words} <span>{neighbours.length}</span>
          </h2>
          <ul>
            {neighbours.map((neighbour) => (
              <li key={neighbour.task}>
                <Link
                  href={`/a/${neighbour.attempt}`}
                  className={styles.entry}
                  aria-current={neighbour.task === task ? "page" : undefined}
                >
                  <StateMark state={neighbour.facts.state} size={14} />
                  <span>{neighbour.title}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}
