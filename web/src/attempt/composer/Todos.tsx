// What the agent has set itself to do, folded to one line above the composer.

import { useState } from "react";
import type { Todo } from "../../api/types";
import { Icon } from "../../ui/Icon";
import styles from "./Composer.module.css";

export function Todos({ todos }: { todos: readonly Todo[] }) {
  const [isOpen, setOpen] = useState(false);
  if (todos.length === 0) return null;
  const done = todos.filter((todo) => todo.status === "completed").length;
  const now = todos.find((todo) => todo.status === "in_progress");
  return (
    <div className={styles.todos}>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "down" : "right"} size={12} />
        Todos {done}/{todos.length}
        {!isOpen && now && <span>{now.content}</span>}
      </button>
      {isOpen && (
        <ul aria-label="Todos">
          {todos.map((todo, index) => (
            <li key={index} data-status={todo.status}>
              <Icon
                name={
                  todo.status === "completed" ? "done" : todo.status === "in_progress" ? "running" : "unknown"
                }
                label={todo.status.replaceAll("_", " ")}
                size={12}
              />
              {todo.content}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
