/** A problem in the code, with its position from 1. */
export interface CodeProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problems?: readonly CodeProblem[];
  readonly isReadOnly?: boolean;
  /** Shows what differs from this text. */
  readonly original?: string | undefined;
  readonly language?: "javascript" | "typescript" | "json";
}
