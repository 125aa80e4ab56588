import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { useOwnerQuery } from "../../app/session-context.tsx";
import { Button } from "../../parts/button.tsx";
import { CodeEditor } from "../../parts/code-editor.tsx";
import { SelectField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { codeProblemsOf } from "../../parts/problems.ts";
import { DeployForm } from "./deploy-form.tsx";
import { examples, text } from "./strings.ts";

const languages = ["javascript", "typescript"] as const;
const entries = { javascript: "component.mjs", typescript: "component.ts" } as const;

/** Code that is written here: it is built first, which shows its problems and its props, and then deployed. */
export function FromCode() {
  const [language, setLanguage] = useState<(typeof languages)[number]>("javascript");
  const [code, setCode] = useState<string>(examples.javascript);
  const query = useOwnerQuery();
  const save = useChange("saveComponent", { invalidates: [] });
  const change = (next: string): void => {
    setCode(next);
    if (!save.isIdle) save.reset();
  };
  const choose = (next: (typeof languages)[number]): void => {
    if (code === examples[language]) change(examples[next]);
    setLanguage(next);
  };
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
        <SelectField
          label={text.language}
          className="max-w-48"
          value={language}
          options={languages.map((each) => [each, text[each]])}
          onChange={(event) => choose(languages.find((each) => each === event.target.value) ?? "javascript")}
        />
        <CodeEditor label={text.code} value={code} onChange={change} language={language} problems={codeProblemsOf(save.error)} />
        {save.error !== null && <ErrorNotice title={text.checkFailed} error={save.error} />}
        {saved !== undefined && (
          <p role="status" className="text-sm text-good">
            {text.checked}
          </p>
        )}
      </Section>
      {saved !== undefined && (
        <Section title={text.configure}>
          <DeployForm key={saved.id} what={{ component_id: saved.id }} props={saved.configurable_props} owner={{ component: saved.id }} />
        </Section>
      )}
    </>
  );
}
