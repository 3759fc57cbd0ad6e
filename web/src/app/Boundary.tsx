// Keeps a fault in one page from taking the rest of the board with it.

import { Component, type ReactNode } from "react";
import { sentenceOf } from "../api/client";
import { Button } from "../ui/Button";
import { Empty } from "../ui/Nothing";

type Props = { children: ReactNode };
type State = { error: unknown };

export class Boundary extends Component<Props, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Empty action={<Button onClick={() => this.setState({ error: null })}>Try again</Button>}>
        This page stopped: {sentenceOf(error)}
      </Empty>
    );
  }
}
