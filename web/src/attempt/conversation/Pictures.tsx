// Pictures that went with a message, small; each opens whole in a tab of its own.

import type { Sent } from "./message";
import styles from "./Pictures.module.css";

export function Pictures({ pictures }: { pictures: readonly Sent[] }) {
  return (
    <ul className={styles.pictures} aria-label="Sent pictures">
      {pictures.map(({ id, name }) => (
        <li key={id}>
          <a href={`/api/images/${id}/file`} target="_blank" rel="noopener noreferrer" title={name}>
            <img src={`/api/images/${id}/file`} alt={name} loading="lazy" decoding="async" />
          </a>
        </li>
      ))}
    </ul>
  );
}
