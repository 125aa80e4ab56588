import type { HttpResponse } from "./interfaces.ts";

/** `$` of an action. */
export interface ActionHelper {
  /** A named export of the step, any JSON value: later steps read it as `steps.<step>.<name>`. `$summary` is a text for people. */
  export<const Name extends string>(name: Name, value: Name extends "$summary" ? string | undefined : unknown): void;
  /** The response to the request that started the run. It is sent when the run ends or is suspended, or at once with `immediate`, or with a stream as its body. */
  respond(response: HttpResponse & { readonly immediate?: boolean }): Promise<void>;
  readonly flow: ActionFlow;
  readonly send: ActionSend;
  readonly context: ActionContext;
  /** Files of the run: later steps have them. */
  readonly files: ActionFiles;
}

/** What happens after the step. No call ends the step, and the last one counts. */
export interface ActionFlow {
  /** Ends the run of the workflow. */
  exit(reason?: string): void;
  /** Continues with the next step later. */
  delay(milliseconds: number, context?: unknown): ResumeUrls;
  /** Continues when `resume_url` is requested; cancels the run if that does not happen in time, a day by default. */
  suspend(milliseconds?: number): ResumeUrls;
  /** Runs this step again later, with the context in `$.context.run.context`. */
  rerun(milliseconds?: number, context?: unknown, maxRetries?: number): ResumeUrls;
}

/** URLs that continue or cancel the suspended run: any request does. */
export interface ResumeUrls {
  readonly resume_url: string;
  readonly cancel_url: string;
}

/** Carried out when the run of the workflow ends, with retries. The arguments are taken as they are at the call. */
export interface ActionSend {
  /** Default method: GET. `params` are added to the URL; `data` that is not a text is sent as JSON. */
  http(request: {
    readonly url: string;
    readonly method?: string | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    readonly params?: Readonly<Record<string, unknown>> | undefined;
    readonly data?: unknown;
    readonly auth?: { readonly username: string; readonly password: string } | undefined;
  }): void;
  /** To the owner of the workflow. */
  email(mail: { readonly subject: string; readonly text?: string | undefined; readonly html?: string | undefined }): void;
  s3(object: { readonly bucket: string; readonly prefix?: string | undefined; readonly payload: unknown }): void;
  /** Emits an event to the subscribers of the workflow: `{raw_event}`, or the event itself. */
  emit(event: unknown): void;
  sse(message: { readonly channel: string; readonly payload: unknown }): void;
}

/** `$.context`: the run and its attempt. */
export interface ActionContext {
  /** Id of the run, the same in all of its steps. */
  readonly id: string;
  readonly ts: string;
  readonly workflow_id: string;
  readonly deployment_id: string;
  readonly owner_id: string;
  /** From 1; more if the step is repeated. */
  readonly attempt: number;
  /** True in a test of the workflow. */
  readonly test: boolean;
  /** Epoch milliseconds at which the step is ended. */
  readonly deadline: number;
  readonly run: {
    /** How often this step has run, this time included. */
    readonly runs: number;
    /** What `$.flow.rerun` was given. */
    // oxlint-disable-next-line typescript/no-explicit-any -- Only the component knows what it gave.
    readonly context?: any;
    /** The request that resumed the run. */
    readonly callback_request?: unknown;
  };
  readonly [field: string]: unknown;
}

export interface ActionFiles {
  /** A file that does not exist is created. */
  open(path: string): ActionFile;
  openDescriptor(descriptor: { readonly path: string }): ActionFile;
  dir(path?: string): AsyncIterable<ActionFile>;
}

/** A file or directory of `$.files`, or what a `file` prop names: a file below `/tmp`, or one at a URL, which can only be read. */
export interface ActionFile {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly modifiedAt: Date;
  isFile(): boolean;
  isDirectory(): boolean;
  toBuffer(): Promise<Uint8Array>;
  toEncodedString(encoding?: string, start?: number, end?: number): Promise<string>;
  /** Copies it to a path such as `/tmp/x`. */
  toFile(path: string): Promise<void>;
  /** A URL at which anyone can read the file as it is now, until the files of the run are deleted, and at most for a day. Not in tests. */
  toUrl(): Promise<string>;
  fromFile(path: string, contentType?: string): Promise<this>;
  fromUrl(url: string): Promise<this>;
  fromReadableStream(stream: AsyncIterable<Uint8Array | string>, contentType?: string, contentLength?: number): Promise<this>;
  write(content: string | Uint8Array): Promise<this>;
  /** Streams of `node:fs`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- These types do not depend on those of Node.
  createReadStream(): any;
  // oxlint-disable-next-line typescript/no-explicit-any -- As above.
  createWriteStream(contentType?: string, contentLength?: number): any;
  delete(): Promise<void>;
}
