/**
 * `headwater/types`: types for authors of components. At run time the three functions hand back what they are given; the builder has
 * its own of them, so a component that imports them needs no package.
 */
export type { ActionContext, ActionFile, ActionFiles, ActionFlow, ActionHelper, ActionSend, ResumeUrls } from "./action.ts";
export { defineAction, defineApp, defineSource } from "./component.ts";
export type { ActionDefinition, ActionInstance, App, AppDefinition, EventOf, SourceDefinition, SourceInstance } from "./component.ts";
export type {
  EmailAddress,
  EmailAttachment,
  EmailAuthentication,
  EmailEvent,
  Emit,
  EmitMetadata,
  EventMetadata,
  FormFile,
  HttpEvent,
  TimerEvent,
} from "./events.ts";
export type { Database, DataStore, HttpInterface, HttpRequest, HttpResponse, StreamedBody, Timer } from "./interfaces.ts";
export type {
  AppInstance,
  AppLike,
  Option,
  OptionsRequest,
  Prop,
  PropDefinitions,
  PropFields,
  Props,
  PropType,
  PropValue,
  PropValues,
  PropsValues,
} from "./props.ts";
