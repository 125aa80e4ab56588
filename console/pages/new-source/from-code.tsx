import { useChange } from "../../api/queries.ts";
import { useDraft } from "../../parts/draft.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Button } from "../../parts/button.tsx";
import { CodeEditor } from "../../parts/code-editor.tsx";
import { SelectField } from "../../parts/field.tsx";
import { ErrorNotice, RestoredNotice, WarningNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { codeProblemsOf } from "../../parts/problems.ts";
import { DeployForm } from "./deploy-form.tsx";
import { examples, text } from "./strings.ts";

const languages = ["javascript", "typescript"] as const;
type Language = (typeof languages)[number];
const entries = { javascript: "component.mjs", typescript: "component.ts" } as const;

interface NewCode {
  readonly language: Language;
  readonly code: string;
}

const initial: NewCode = { language: "javascript", code: examples.javascript };
const isSame = (one: NewCode, other: NewCode): boolean => one.language === other.language && one.code === other.code;

/** Code that is written here: it is built first, which shows its problems and its props, and then deployed. */
export function FromCode() {
  const draft = useDraft("code of a new source", initial, isSame);
  const { language, code } = draft.value;
  const query = useOwnerQuery();
  const save = useChange("saveComponent", { invalidates: [], showsWarnings: true });
  const change = (next: Partial<NewCode>): void => {
    draft.change({ ...draft.value, ...next });
    if (next.code !== undefined && !save.isIdle) save.reset();
  };
  const choose = (next: Language): void =>
    change(code === examples[language] ? { language: next, code: examples[next] } : { language: next });
  const saved = save.data?.data;
  return (
    <>
      <Section
        title={text.code}
        actions={
          <Button
            disabled={save.isPending}
            onClick={() => save.mutate({ query, body: { component_code: code, component_entry: entries[language] } })}
          >
            {save.isPending ? text.checking : text.check}
          </Button>
        }
      >
        {draft.isRestored && <RestoredNotice discard={draft.discard} />}
        <SelectField
          label={text.language}
          className="max-w-48"
          value={language}
          options={languages.map((each) => [each, text[each]])}
          onChange={(event) => choose(languages.find((each) => each === event.target.value) ?? "javascript")}
        />
        <CodeEditor
          label={text.code}
          value={code}
          onChange={(next) => change({ code: next })}
          language={language}
          problems={codeProblemsOf(save.error)}
        />
        {save.error !== null && <ErrorNotice title={text.checkFailed} error={save.error} />}
        {saved !== undefined && (
          <p role="status" className="text-sm text-good">
            {text.checked}
          </p>
        )}
        <WarningNotice warnings={save.data?.warnings} />
      </Section>
      {saved !== undefined && (
        <Section title={text.configure}>
          <DeployForm
            key={saved.id}
            what={{ component_id: saved.id }}
            props={saved.configurable_props}
            owner={{ component: saved.id }}
            onDeployed={draft.forget}
          />
        </Section>
      )}
    </>
  );
}
