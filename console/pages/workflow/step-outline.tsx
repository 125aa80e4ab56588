import { Section } from "../../parts/page.tsx";
import { controlOf, type StepDraft } from "./steps-draft.ts";
import { text } from "./strings.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The steps within a step, and when they run. */
interface Part {
  readonly when: string;
  readonly steps: readonly Fields[];
}

const maxShown = 80;
/** As deep as steps may be. */
const maxDepth = 8;

/** The steps with those within them, as they are in the editors below; nothing for steps in a row. */
export function StepOutline({ drafts }: { readonly drafts: readonly StepDraft[] }) {
  const steps = drafts.map((draft) => ({ ...controlOf(draft), name: draft.name }));
  if (steps.every((step) => partsOf(step).length === 0)) return null;
  return (
    <Section title={text.outline}>
      <Steps steps={steps} depth={0} />
    </Section>
  );
}

function Steps({ steps, depth }: { readonly steps: readonly Fields[]; readonly depth: number }) {
  return (
    <ol className="flex flex-col gap-1 text-sm">
      {steps.map((step, index) => (
        <li key={index} className="min-w-0">
          <bdi className="font-medium">{nameOf(step)}</bdi> <span className="text-muted">{noteOf(step)}</span>
          {depth < maxDepth &&
            partsOf(step).map(({ when, steps: inner }, at) => (
              <div key={at} className="mt-1 ml-2 border-l border-line pl-3">
                <p className="wrap-anywhere text-muted">
                  <bdi>{when}</bdi>
                </p>
                <Steps steps={inner} depth={depth + 1} />
              </div>
            ))}
        </li>
      ))}
    </ol>
  );
}

/** What a person types may be anything. */
function partsOf(step: Fields): readonly Part[] {
  const { outlined } = text;
  const conditions = listIn(step["else_if"]).map(({ if: condition, then }) => part(outlined.elseIf(shown(condition)), then));
  const cases = listIn(step["cases"]).map(({ when, equals, steps }) => part(outlined.case(shown(when ?? equals)), steps));
  const branches = Array.isArray(step["parallel"]) ? step["parallel"].map((steps, index) => part(outlined.branch(index + 1), steps)) : [];
  return [
    part(outlined.if(shown(step["if"])), step["then"]),
    ...conditions,
    part(outlined.else, step["else"]),
    ...cases,
    part(outlined.default, step["default"]),
    part(step["while"] === undefined ? outlined.forEach(shown(step["for_each"])) : outlined.while(shown(step["while"])), step["steps"]),
    ...branches,
    part(outlined.try, step["try"]),
    part(outlined.catch, step["catch"]),
    part(outlined.finally, step["finally"]),
  ].filter(({ steps }) => steps.length > 0);
}

const part = (when: string, steps: unknown): Part => ({ when, steps: listIn(steps) });

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const listIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

const nameOf = ({ name }: Fields): string => (typeof name === "string" ? name : "");

function noteOf({ stop, workflow, switch: value }: Fields): string {
  if (stop !== undefined) return text.outlined.stop(shown(stop));
  if (value !== undefined) return text.outlined.switch(shown(value));
  return workflow === undefined ? "" : text.outlined.workflow(shown(workflow));
}

function shown(value: unknown): string {
  const found = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return found.length > maxShown ? `${found.slice(0, maxShown)}…` : found;
}
