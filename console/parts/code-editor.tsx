import { lazy, Suspense } from "react";
import { Loading } from "./notices.tsx";

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

const Editor = lazy(() => import("./code-mirror.tsx"));

/** A code editor, whose code is loaded when it is shown. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Loading />}>
      <Editor {...props} />
    </Suspense>
  );
}
