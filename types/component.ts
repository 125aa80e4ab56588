import type { Emit, EventMetadata, HttpEvent, TimerEvent } from "./events.ts";
import type { ActionHelper } from "./action.ts";
import type { AppInstance, PropDefinitions, Props, PropsValues, TypeOf } from "./props.ts";

type Described = { readonly name: string; readonly key?: string; readonly version?: string; readonly description?: string };
type Annotated = { readonly annotations?: Readonly<Record<string, unknown>>; readonly sampleEmit?: unknown };

/** `this` of run, hooks, methods and options of a source. */
export type SourceInstance<P, M> = PropsValues<P> & Readonly<M> & { readonly $emit: Emit };
/** `this` of an action. */
export type ActionInstance<P, M> = PropsValues<P> & Readonly<M>;

/** What the interfaces among the props call `run` with; without any it is another source's event, or what a person gave. */
export type EventOf<P> = [InterfaceEvent<P>] extends [never] ? unknown : InterfaceEvent<P>;
type InterfaceEvent<P> = {
  [Name in keyof P]: TypeOf<P[Name]> extends "$.interface.http"
    ? HttpEvent
    : TypeOf<P[Name]> extends "$.interface.timer"
      ? TimerEvent
      : never;
}[keyof P];

type Hook = () => unknown;
interface Hooks {
  /** Once, when the source is made. */
  readonly deploy?: Hook;
  /** Before the source is used, and after each change. */
  readonly activate?: Hook;
  /** Before each change, and before the source is deleted. */
  readonly deactivate?: Hook;
}

/** The props to be asked for beside `props`, given the definitions of those asked for so far. */
type AdditionalProps = (previous: Readonly<Record<string, unknown>>) => object | Promise<object>;

export interface SourceDefinition<P extends Props, M> extends Described, Annotated {
  readonly type?: "source";
  readonly dedupe?: "unique" | "greatest" | "last";
  readonly props?: P;
  readonly methods?: M;
  readonly hooks?: Hooks;
  readonly additionalProps?: AdditionalProps;
  /** `metadata`: of an event that another source emitted; undefined when a tick, a request or you set it going. */
  run(event: EventOf<P>, metadata?: EventMetadata): unknown;
}

export interface ActionDefinition<P extends Props, M> extends Described, Annotated {
  readonly type: "action";
  readonly props?: P;
  readonly methods?: M;
  readonly additionalProps?: AdditionalProps;
  /** `steps`: the exports of earlier steps by name, and the event as `steps.trigger.event`. Its result is `steps.<name>.$return_value`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- Only the author knows what other steps export.
  run(step: { readonly $: ActionHelper; readonly steps: Readonly<Record<string, any>> }): unknown;
}

export interface AppDefinition<D extends PropDefinitions, M> {
  readonly type: "app";
  /** Slug of the app, by which accounts are kept. */
  readonly app: string;
  readonly propDefinitions?: D;
  readonly methods?: M;
}

/** An app with all that its components refer to. */
export type App<D, M> = { readonly type: "app"; readonly app: string; readonly propDefinitions: D; readonly methods: M };

/** A component that emits events. */
export function defineSource<const P extends Props, M extends object>(
  source: SourceDefinition<P, M> & ThisType<SourceInstance<P, M>>,
): SourceDefinition<P, M> {
  return source;
}

/** A component that is a step of a workflow. */
export function defineAction<const P extends Props, M extends object>(
  action: ActionDefinition<P, M> & ThisType<ActionInstance<P, M>>,
): ActionDefinition<P, M> {
  return action;
}

/** What components of one service share: definitions of props, methods, and the account as `this.$auth`. */
export function defineApp<const D extends PropDefinitions, M extends object>(
  app: AppDefinition<D, M> & ThisType<AppInstance<M>>,
): App<D, M> {
  return app as App<D, M>; // What is left out is an empty object to types alone: code cannot refer to anything in it.
}
