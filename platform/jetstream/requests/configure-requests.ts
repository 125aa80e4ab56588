import { z } from "zod";
import type { ConfiguredOptions, ConfiguredProps } from "../../../domain/component/configure.ts";
import { parseConfigured } from "../../../domain/component/configured.ts";
import type { Control } from "../../../domain/workflow/control.ts";
import type { PropDefinition } from "../../../domain/component/definition.ts";
import { Invariant, Unavailable } from "../../../domain/errors.ts";
import { configureSubject } from "../../../domain/subjects.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import type { StepDeployment } from "../../../domain/workflow/deployment.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import type { Nats } from "../connection/link.ts";
import { request, serve, type Service } from "./request-reply.ts";

const componentCall = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("options"),
    prop: z.string(),
    page: z.int().min(0),
    prevContext: z.json().exactOptional(),
    query: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal("props") }),
]);
const configureRequest = z.object({
  namespace: z.string(),
  component: z.string(),
  source: z.string().exactOptional(),
  workflow: z.string().exactOptional(),
  step: z.string().exactOptional(),
  props: z.record(z.string(), z.json()).exactOptional(),
  call: componentCall,
});
type ConfigureRequest = z.infer<typeof configureRequest>;
/** The steps of a draft, to be sealed for the pool of the workflow. */
const draftRequest = z.object({
  namespace: z.string(),
  workflow: z.string(),
  draft: z.array(
    z.object({
      id: z.string().exactOptional(),
      name: z.string(),
      component: z.string(),
      props: z.record(z.string(), z.json()),
      configurableProps: z.array(z.custom<PropDefinition>((value) => typeof value === "object" && value !== null)).exactOptional(),
      continueOnError: z.boolean(),
      retries: z.int(),
      timeoutMs: z.number().nullable(),
      readsVariables: z.boolean().exactOptional(),
      control: z.custom<Control>((value) => typeof value === "object" && value !== null).exactOptional(),
    }),
  ),
});
type DraftRequest = z.infer<typeof draftRequest>;
/** A source that is not deployed, to be sealed for the pool of its owner. */
const sourceDraftRequest = z.object({
  namespace: z.string(),
  tested: z.string(),
  props: z.record(z.string(), z.json()),
  configurableProps: z.array(z.custom<PropDefinition>((value) => typeof value === "object" && value !== null)).exactOptional(),
});
type SourceDraftRequest = z.infer<typeof sourceDraftRequest>;
type Configured = ConfiguredOptions | ConfiguredProps;

/** The timeout is longer than a call may take, so that the operator's own error about its time limit arrives. */
const service: Service = {
  queue: "configurators",
  timeoutMs: 25_000,
  noReply: {
    absent: { code: "no_operator", message: "no operator is running: components cannot be configured now, try again" },
    late: { status: 504, code: "configure_timeout", message: "the operator did not answer in time: try again" },
    unreachable: { code: "operator_unreachable", message: "the operator cannot be reached: try again" },
  },
};

interface Sealing {
  readonly sealDraft: (request: DraftRequest) => Promise<readonly StepDeployment[]>;
  readonly sealSourceDraft: (request: SourceDraftRequest) => Promise<Deployment>;
}

/** Each request goes to one of the operators. */
export const serveConfigureRequests = (
  { nats }: Pick<Connection, "nats">,
  configure: (request: ConfigureRequest) => Promise<Configured>,
  { sealDraft, sealSourceDraft }: Sealing = { sealDraft: noDrafts, sealSourceDraft: noDrafts },
): Promise<Stoppable> =>
  serve(nats, configureSubject, service, async (body) => {
    const draft = draftRequest.safeParse(body);
    if (draft.success) return sealDraft(draft.data);
    const source = sourceDraftRequest.safeParse(body);
    return source.success ? sealSourceDraft(source.data) : configure(configureRequest.parse(body));
  });

const noDrafts = (): Promise<never> => Promise.reject(new Unavailable("this operator seals no drafts"));

/** Calls a component through an operator, which validates the request. @throws what the operator threw; Unavailable when none replies */
export async function requestConfigure(nats: Nats, call: object): Promise<Configured> {
  const configured = parseConfigured(await request(nats, configureSubject, service, call));
  if (configured.outcome === "failed") throw new Invariant("the operator returned a failed call instead of an error");
  return configured;
}

/** Only our own operator replies, from typed values. */
const sealed = z.custom<readonly StepDeployment[]>(Array.isArray);

/** Seals the steps of a draft through an operator. @throws what the operator threw; Unavailable when none replies */
export const requestDraft = async (nats: Nats, draft: object): Promise<readonly StepDeployment[]> =>
  sealed.parse(await request(nats, configureSubject, service, draft));

const sealedSource = z.custom<Deployment>((value) => typeof value === "object" && value !== null);

/** The same for a source that is not deployed. */
export const requestSourceDraft = async (nats: Nats, draft: object): Promise<Deployment> =>
  sealedSource.parse(await request(nats, configureSubject, service, draft));
