import { ErrorNotice } from "./notices.tsx";
import { State } from "./state.tsx";
import { text } from "./strings.ts";
import { Time } from "./time.tsx";

interface Problem {
  readonly code: string;
  readonly message: string;
  /** Epoch seconds. */
  readonly since: number;
}

/** What a source, workflow or webhook shows of its health. */
export interface Healthy {
  readonly state: keyof typeof text.health;
  readonly problem: Problem | null;
}

/** The state of a source, workflow or webhook; its problem as a title. */
export function HealthState({ item: { state, problem }, label }: { readonly item: Healthy; readonly label?: string }) {
  return (
    <span title={problem?.message}>
      <State state={state} label={label ?? text.health[state]} />
    </span>
  );
}

/** The problem of what is not switched off. */
export function ProblemNotice({ item: { state, problem } }: { readonly item: Healthy }) {
  if (problem === null || state === "paused") return null;
  return <ErrorNotice title={problem.code} error={new Error(problem.message)} />;
}

/** The facts of its health for the table of facts, as far as there are any. */
export function healthFacts(item: Healthy & { readonly success_rate: number | null; readonly circuit_open_until?: number | null }) {
  const { state, problem, success_rate: rate, circuit_open_until: until } = item;
  const since = problem === null || state === "paused" ? undefined : problem.since;
  return [
    ...(since === undefined ? [] : [[text.problemSince, <Time key="since" ms={since * 1_000} />] as const]),
    ...(rate === null ? [] : [[text.successRate, `${Math.round(rate * 1_000) / 10} %`] as const]),
    ...(until === null || until === undefined ? [] : [[text.circuitOpenUntil, <Time key="circuit" ms={until * 1_000} />] as const]),
  ];
}
