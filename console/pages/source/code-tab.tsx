import { useState } from "react";
import type { Component, Source } from "../../../client/generated/operations.ts";
import { useComponent } from "../../api/component-props.ts";
import { useChange } from "../../api/queries.ts";
import { useDraft } from "../../parts/draft.ts";
import { useCanWrite, useOwnerQuery } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { CodeEditor } from "../../parts/code-editor.tsx";
import { Checkbox } from "../../parts/field.tsx";
import { EmptyState, ErrorNotice, Loaded, RestoredNotice, WarningNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { codeProblemsOf } from "../../parts/problems.ts";
import { text } from "./strings.ts";

/** The code that runs, to change and deploy. */
export function CodeTab({ source }: { readonly source: Source }) {
  const component = useComponent(source.component_id);
  if (source.component_id === null) return <EmptyState title={text.noCode} />;
  return (
    <Loaded isLoading={component.isPending} error={component.error} retry={() => void component.refetch()}>
      {component.data !== undefined && <Editor key={component.data.id} source={source} component={component.data} />}
    </Loaded>
  );
}

function Editor({ source, component }: { readonly source: Source; readonly component: Component }) {
  const draft = useDraft(`code of ${source.id}`, component.code);
  const code = draft.value;
  const [showsDiff, setShowsDiff] = useState(false);
  const query = useOwnerQuery();
  const canWrite = useCanWrite();
  const check = useChange("saveComponent", { invalidates: [], showsWarnings: true });
  const deploy = useChange("updateSource", {
    onDone: () => {
      draft.forget();
      showToast(text.deployedCode);
    },
  });
  const isReadOnly = component.files.length > 0 || !canWrite;
  const isPending = check.isPending || deploy.isPending;
  const error = deploy.error ?? check.error;
  const entry = component.entry === null ? {} : { component_entry: component.entry };
  const change = (next: string): void => {
    draft.change(next);
    check.reset();
    deploy.reset();
  };
  return (
    <Section
      title={text.tabs.code}
      actions={
        <>
          <Checkbox label={text.showDiff} checked={showsDiff} onChange={(event) => setShowsDiff(event.target.checked)} />
          {!isReadOnly && (
            <>
              <Button disabled={isPending} onClick={() => check.mutate({ query, body: { component_code: code, ...entry } })}>
                {text.check}
              </Button>
              <Button
                kind="primary"
                disabled={isPending || code === component.code}
                onClick={() => deploy.mutate({ path: { id: source.id }, body: { component_code: code, ...entry } })}
              >
                {deploy.isPending ? text.deployingCode : text.deployCode}
              </Button>
            </>
          )}
        </>
      }
    >
      {draft.isRestored && <RestoredNotice discard={draft.discard} />}
      {component.files.length > 0 && <p className="text-sm text-muted">{text.severalFiles}</p>}
      <CodeEditor
        label={text.tabs.code}
        value={code}
        onChange={change}
        isReadOnly={isReadOnly}
        problems={codeProblemsOf(error)}
        original={showsDiff ? component.code : undefined}
        language={component.entry?.endsWith(".ts") === true ? "typescript" : "javascript"}
      />
      {error !== null && <ErrorNotice title={text.codeFailed} error={error} />}
      {check.isSuccess && (
        <p role="status" className="text-sm text-good">
          {text.checked}
        </p>
      )}
      <WarningNotice warnings={check.data?.warnings} />
    </Section>
  );
}
