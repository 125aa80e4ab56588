import { readCommit } from "../../domain/run/read-commit.ts";
import type { Commit } from "../../domain/run/commit.ts";
import type { Route } from "../../domain/source/deployment.ts";
import { stepsOf } from "../../domain/workflow/run-commit.ts";
import { flow, flowExports, flowSteps } from "./flow.ts";
import type { Servers } from "./servers.ts";

/** What a client has sent, by its token. */
export interface Sent {
  readonly source: string;
  /** Whether the client knows that it was stored. */
  isAccepted: boolean;
}

interface EmittedEvent {
  readonly source: string;
  readonly emitId: string;
  readonly token: string;
}

/** What a history must not do, once all that went wrong is over and everything has come to rest: each violation in a sentence. */
export function violationsOf(servers: Servers, sent: ReadonlyMap<string, Sent>): readonly string[] {
  const commits = servers.runs.all.flatMap(({ text, subject, seq }) => {
    const commit = readCommit(text, subject);
    return commit === undefined ? [] : [{ seq, commit }];
  });
  const events = commits.flatMap(({ commit }) => eventsOf(commit));
  return [
    ...restOf(servers),
    ...sentOnce(sent, events),
    ...statesInOrder(commits.map(({ commit }) => commit).filter(({ workflow }) => workflow === undefined)),
    ...flowsEnd(
      sent,
      commits.map(({ commit }) => commit),
    ),
    ...recordedOnce(commits, servers),
    ...servers.routes.flatMap((route) =>
      route.listener.kind === "source" ? heardOnce(route, events) : receivedBy(route, events, servers),
    ),
  ];
}

function restOf({ invocations, deliveries, history }: Servers): readonly string[] {
  return [
    ...(invocations.size === 0 ? [] : [`${invocations.size} invocations are still queued`]),
    ...(deliveries.size === 0 ? [] : [`${deliveries.size} deliveries are still stored`]),
    ...history.deadLetters.map(({ delivery, reason }) => `delivery ${delivery} is a dead letter: ${reason}`),
  ];
}

/** Accepted is committed exactly once; what was perhaps stored, at most once. */
function sentOnce(sent: ReadonlyMap<string, Sent>, events: readonly EmittedEvent[]): readonly string[] {
  const counts = countsOf(events);
  return [...sent].flatMap(([token, { source, isAccepted }]) => {
    if (source === flow.workflow) return [];
    const count = counts.get(`${source} ${token}`) ?? 0;
    if (count > 1) return [`request ${token} to ${source} has run ${count} times`];
    return isAccepted && count === 0 ? [`request ${token} to ${source} was accepted and has not run`] : [];
  });
}

/** Each run has read what the one before it has written. */
function statesInOrder(commits: readonly Commit[]): readonly string[] {
  const counts = new Map<string, number>();
  return commits.flatMap(({ source, state }) => {
    const before = counts.get(source) ?? 0;
    const count = Number(state.db["db"]?.["count"]);
    counts.set(source, count);
    return count === before + 1 ? [] : [`run ${count} of ${source} is committed after run ${before}`];
  });
}

/** Each accepted request to the workflow has one run, which ends as one without faults does. No committed step has run again. */
function flowsEnd(sent: ReadonlyMap<string, Sent>, commits: readonly Commit[]): readonly string[] {
  const runs = Map.groupBy(
    commits.filter(({ workflow }) => workflow !== undefined),
    ({ run }) => run.id,
  );
  const begun = new Map<string, number>();
  const ends = [...runs].flatMap(([run, ofRun]) => {
    const token = tokenOf(ofRun[0]?.workflow?.event ?? "{}");
    begun.set(token, (begun.get(token) ?? 0) + 1);
    const status = ofRun.at(-1)?.workflow?.status;
    const done = ofRun
      .flatMap(({ workflow }) => (workflow === undefined ? [] : stepsOf(workflow, [])))
      .filter(({ step }) => step.outcome !== "retried");
    const names = done
      .map(({ step }) => step.name)
      .toSorted()
      .join(" ");
    return [
      ...(status === "succeeded" ? [] : [`run ${run} of ${token} is ${status}`]),
      ...(names === flowSteps ? [] : [`run ${run} of ${token} has committed ${names}`]),
      ...(done.at(-1)?.step.exports === flowExports ? [] : [`run ${run} of ${token} ends with ${done.at(-1)?.step.exports}`]),
    ];
  });
  const requests = [...sent].flatMap(([token, { source, isAccepted }]) => {
    const count = begun.get(token) ?? 0;
    if (source !== flow.workflow || count === 1 || (count === 0 && !isAccepted)) return [];
    return [`request ${token} to ${source} has begun ${count} runs`];
  });
  return [...ends, ...requests];
}

function recordedOnce(commits: readonly { readonly seq: number }[], { history }: Servers): readonly string[] {
  const recorded = new Map<number, number>();
  for (const { seq } of history.commits) recorded.set(seq, (recorded.get(seq) ?? 0) + 1);
  return commits.flatMap(({ seq }) => (recorded.get(seq) === 1 ? [] : [`commit ${seq} is recorded ${recorded.get(seq) ?? 0} times`]));
}

/** A listening source has run each event once. */
function heardOnce({ emitter, listener }: Route, events: readonly EmittedEvent[]): readonly string[] {
  const counts = countsOf(events);
  return events
    .filter(({ source }) => source === emitter)
    .flatMap(({ token }) => {
      const count = counts.get(`${listener.id} ${token}`) ?? 0;
      return count === 1 ? [] : [`${listener.id} has run ${count} times for ${token} of ${emitter}`];
    });
}

/** A webhook has received each event under its id, and an ordered one in the order of the commits of each source. */
function receivedBy({ emitter, listener }: Route, events: readonly EmittedEvent[], { receivers }: Servers): readonly string[] {
  if (listener.kind !== "webhook" || emitter === listener.id) return [];
  const firsts = new Map<string, number>();
  for (const [index, { id, body, status }] of receivers.received(listener.url).entries()) {
    const { token } = JSON.parse(body) as { readonly token: string };
    if (status === 200 && !firsts.has(`${id} ${token}`)) firsts.set(`${id} ${token}`, index);
  }
  const own = events.filter(({ source }) => source === emitter);
  let firstLater = Number.POSITIVE_INFINITY;
  return own.toReversed().flatMap(({ emitId, token }) => {
    const first = firsts.get(`${emitId} ${token}`);
    if (first === undefined) return [`${listener.id} has not received ${emitId} of ${emitter}`];
    const isLate = first > firstLater;
    firstLater = Math.min(firstLater, first);
    return isLate && listener.ordered === true ? [`${listener.id} has received ${emitId} of ${emitter} after a later event`] : [];
  });
}

function countsOf(events: readonly EmittedEvent[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { source, token } of events) counts.set(`${source} ${token}`, (counts.get(`${source} ${token}`) ?? 0) + 1);
  return counts;
}

function eventsOf({ source, events }: Commit): readonly EmittedEvent[] {
  return events.map(({ emitId, payload }) => ({ source, emitId, token: tokenOf(payload) }));
}

const tokenOf = (text: string): string => (JSON.parse(text) as { readonly token: string }).token;
