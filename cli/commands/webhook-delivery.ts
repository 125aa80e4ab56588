import type { Delivery, WholeAttempt } from "../../client/generated/operations.ts";
import type { Subcommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { fieldLines } from "../output/fields.ts";

export const delivery: Subcommand = {
  name: "delivery",
  summary: "show what a delivery sent, and what the endpoint answered",
  description:
    "Shows a delivery, and its last attempt with headers and bodies: lines of the request begin with >, those of the response with <. " +
    "Credentials and cookies are shown as ***.",
  arguments: [{ name: "<delivery>", description: "id of a delivery to a webhook" }],
  options: [{ flags: "--attempt <number>", description: "show this attempt; by default the last", value: "count" }],
  examples: [
    { command: "hw webhooks delivery dlv_0123456789ab", does: "Show the last attempt." },
    { command: "hw webhooks delivery dlv_0123456789ab --attempt 1", does: "Show the first attempt." },
  ],
  operations: ["getDelivery"],
  run: async ({ client, out }, given) => {
    const id = given.required("delivery");
    const answer = await client.call("getDelivery", { path: { id } });
    const chosen = chosenAttempt(answer.data, given.count("attempt"));
    await out.document(answer, () => deliveryLines(answer.data, chosen));
  },
};

/** @throws Failure if the attempt is not among those that are shown */
function chosenAttempt({ attempts }: Delivery, number: number | undefined): WholeAttempt | undefined {
  const chosen = number === undefined ? attempts[0] : attempts.find(({ attempt }) => attempt === number);
  if (number === undefined || chosen !== undefined) return chosen;
  const stored = attempts.map(({ attempt }) => attempt).toReversed();
  throw new Failure(`attempt ${number} is not stored: ${stored.length === 0 ? "no attempt is" : `the attempts are ${stored.join(", ")}`}`);
}

function deliveryLines({ attempts, body, ...about }: Delivery, chosen: WholeAttempt | undefined): readonly string[] {
  const facts = fieldLines({ ...about, attempts: attempts.length });
  if (chosen === undefined) return [...facts, "", "its attempts are no longer stored"];
  const { request, response: _, ...result } = chosen;
  return [...facts, "", ...fieldLines(result), "", ...requestLines(request, body), "", ...responseLines(chosen)];
}

function requestLines(request: WholeAttempt["request"], body: string | null): readonly string[] {
  if (request === null) return ["what was sent is not recorded"];
  const { method, url, headers } = request;
  const sent = [`${method} ${url}`, ...headers.map(({ name, value }) => `${name}: ${value}`), "", ...(body?.split("\n") ?? [])];
  return [...marked(">", sent), ...(body === null ? ["(the body is not stored)"] : [])];
}

function responseLines({ request, response, response_status: status }: WholeAttempt): readonly string[] {
  if (response === null) return [request !== null && status === null ? "there was no response" : "what was answered is not recorded"];
  const { headers, headers_cut: areHeadersCut, body, body_encoding: encoding, body_cut: isCut } = response;
  const answered = [
    String(status),
    ...headers.map(({ name, value }) => `${name}: ${value}`),
    ...(areHeadersCut ? ["(more headers are not stored)"] : []),
    "",
    ...(encoding === "base64" ? ["(binary, as base64)"] : []),
    ...(body === "" ? [] : body.split("\n")),
  ];
  return [...marked("<", answered), ...(isCut ? ["(the rest of the body is not stored)"] : [])];
}

const marked = (mark: string, lines: readonly string[]): readonly string[] => lines.map((line) => `${mark} ${line}`.trimEnd());
