// Keeps a fault in one part of the board from taking the rest with it: a row, a pane, a page, the frame.

import { Component, type ReactNode } from "react";
import { sentenceOf } from "../api/client";
import { Button } from "./Button";
import { Empty } from "./Nothing";

type Props = {
  /** What is not shown, at the beginning of a sentence: "This page". */
  what: string;
  /** Where the user is. Elsewhere it is tried again. */
  at?: string;
  children: ReactNode;
};
type State = { error: unknown; at: string | undefined };

export class Boundary extends Component<Props, State> {
  override state: State = { error: null, at: this.props.at };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error ?? new Error("unknown") };
  }

  static getDerivedStateFromProps({ at }: Props, state: State): Partial<State> | null {
    return at === state.at ? null : { error: null, at };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div role="alert">
        <Empty action={<Button onClick={() => this.setState({ error: null })}>Try again</Button>}>
          {this.props.what} cannot be shown: {sentenceOf(error)}
        </Empty>
      </div>
    );
  }
}
