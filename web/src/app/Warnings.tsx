// What the owner should know about the server itself: its database is damaged, its disk is full, its data is a copy.

import { useQuery } from "@tanstack/react-query";
import styles from "./Frame.module.css";
import { infoQuery } from "./info";

/** Nobody is told of these by an event, and they change by the day. */
const AGAIN = 10 * 60_000;

export function Warnings() {
  const { data } = useQuery({ ...infoQuery, refetchInterval: AGAIN });
  // A server of an older version warns of nothing.
  return (data?.warnings ?? []).map((sentence) => (
    <div key={sentence} className={styles.banner} role="alert">
      {sentence}
    </div>
  ));
}
