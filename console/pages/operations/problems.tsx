import type { InstallationStatus } from "../../../client/generated/operations.ts";
import { TextLink } from "../../parts/button.tsx";
import { Section } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { text } from "./strings.ts";

/** What needs an operator, with links to what to do. */
export function Problems({ problems }: Pick<InstallationStatus, "problems">) {
  return (
    <Section title={text.problems}>
      {problems.length === 0 ? (
        <State state="ok" label={text.noProblems} />
      ) : (
        <ul aria-label={text.problems} className="flex flex-col gap-2 text-sm">
          {problems.map(({ code, message, runbook }) => (
            <li key={`${code} ${message}`} className="flex min-w-0 flex-wrap items-baseline gap-x-3 gap-y-1">
              <span className="min-w-0 flex-1 basis-60 wrap-anywhere text-bad">
                <bdi>{message}</bdi>
              </span>
              <TextLink to="/operations" search={{ tab: "runbooks", runbook } as never} className="wrap-anywhere">
                {text.runbook(runbook)}
              </TextLink>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
