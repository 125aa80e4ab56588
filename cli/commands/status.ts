import { ApiError } from "../../client/errors.ts";
import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { Failure, exitCodes } from "../failure.ts";
import { fieldLines } from "../output/fields.ts";
import own from "../package.json" with { type: "json" };

export const command: Definition = {
  description:
    "Shows whether the installation is usable: its checks, and with which profile it is reached. It fails if a check does not pass.",
  examples: [
    { command: "hw status", does: "Show each check." },
    { command: "hw status -q && hw list", does: "Continue only if all checks pass." },
  ],
  operations: ["getMe"],
  run: async (context) => {
    const { out, profile } = context;
    const readiness = await readinessOf(context);
    const user = await userOf(context);
    const answer = {
      ready: readiness.isReady,
      url: profile.url,
      profile: profile.name,
      origin: profile.origin,
      user,
      version: own.version,
      checks: readiness.checks,
    };
    await out.document(answer, () => (out.isQuiet ? [] : fieldLines(answer)));
    if (!readiness.isReady)
      throw new Failure("the installation is not ready", { exitCode: exitCodes.unreachable, hint: "the checks above say what is missing" });
  },
};

interface Readiness {
  readonly isReady: boolean;
  readonly checks: unknown;
}

/** `/readyz` answers 503 with the same body while a check does not pass. */
async function readinessOf({ client }: Context): Promise<Readiness> {
  try {
    const { text } = await client.request("GET", "/readyz");
    return { isReady: true, checks: parsed(text) };
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return { isReady: false, checks: error.details ?? error.message };
    throw error;
  }
}

async function userOf({ client }: Context): Promise<string> {
  const { data } = await client.call("getMe", {});
  return `${data.username} (${data.id})`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
