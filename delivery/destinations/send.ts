import { traceContext, type TraceContext } from "../../domain/traces.ts";
import { parseSendArgument, type SendArguments } from "../../domain/workflow/send-arguments.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { DeliveredSend } from "../routing/sends.ts";
import { impossible, type ExternalDestination, type ExternalOutcome } from "./destination.ts";
import type { Secrets } from "./ports.ts";

export interface SendPorts {
  readonly secrets: Pick<Secrets, "open">;
}

/** One kind of `$.send`. */
export interface Send<Kind extends DeliveredSend> {
  readonly kind: Kind;
  readonly storesBeforeFirstAttempt: boolean;
  /** Names its circuit among those of the workflow. Absent: by its kind. */
  readonly circuitOf?: (delivery: Delivery) => string;
  readonly carryOut: (argument: SendArguments[Kind], delivery: Delivery, trace: TraceContext) => Promise<ExternalOutcome>;
}

/** What `$.send` asked for. Arguments come from runners, which run user code: they are checked again here. */
export class SendDestination<Kind extends DeliveredSend> implements ExternalDestination {
  readonly kind = "send";
  readonly owner: string;
  readonly circuit: string;
  readonly storesBeforeFirstAttempt: boolean;
  readonly #send: Send<Kind>;
  readonly #workflow: string;
  readonly #ports: SendPorts;

  constructor(send: Send<Kind>, delivery: Delivery, ports: SendPorts) {
    const { kind, storesBeforeFirstAttempt, circuitOf } = send;
    this.owner = delivery.event.owner;
    this.circuit = `${delivery.listener} ${circuitOf === undefined ? kind : circuitOf(delivery)}`;
    this.storesBeforeFirstAttempt = storesBeforeFirstAttempt;
    this.#send = send;
    this.#workflow = delivery.listener;
    this.#ports = ports;
  }

  async attempt(delivery: Delivery, traceparent: string | undefined): Promise<ExternalOutcome> {
    const { kind, carryOut } = this.#send;
    const { payload, sealed, tracestate } = delivery.event;
    const argument = parseSendArgument(kind, sealed === undefined ? payload : await this.#ports.secrets.open(sealed));
    if (argument === undefined) return impossible(`the argument of $.send.${kind} is invalid`);
    return carryOut(argument, delivery, traceContext({ traceparent, tracestate }));
  }

  spanAttributes(): Readonly<Record<string, string>> {
    return { "workflow.id": this.#workflow };
  }
}

export const textOf = (data: unknown): string => (typeof data === "string" ? data : JSON.stringify(data));
export const contentTypeOf = (data: unknown): string => (typeof data === "string" ? "text/plain; charset=utf-8" : "application/json");
