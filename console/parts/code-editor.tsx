import { lazy, Suspense } from "react";
import type { CodeEditorProps } from "./code-editor-props.ts";
import { Loading } from "./notices.tsx";

const Editor = lazy(() => import("./code-mirror.tsx"));

/** A code editor, whose code is loaded when it is shown. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Loading />}>
      <Editor {...props} />
    </Suspense>
  );
}
