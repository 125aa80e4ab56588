import { Unavailable } from "../../../domain/errors.ts";
import type { JailMode } from "../../../domain/jail-modes.ts";
import { findJailFailure, type Jail, jailOf } from "./jail.ts";
import type { JailProfile, JailRules } from "./rules.ts";

export interface JailOptions {
  readonly mode: JailMode;
  readonly launcher: string;
  readonly profile: JailProfile;
  /** Whether the parent of these processes is root. Default: of this process. */
  readonly isRoot?: boolean;
  /** The user that processes of this kind become where their parent is root. */
  readonly user: NonNullable<JailRules["user"]>;
  /** What all processes of this kind read. */
  readonly readable: readonly string[];
  /** Plural, for messages: `sandbox processes`. */
  readonly processes: string;
  readonly logger: { readonly warn: (fields: object, message?: string) => void } | undefined;
  readonly findJailFailure?: ((jail: Jail, readable: readonly string[]) => Promise<string | undefined>) | undefined;
}

export interface ChosenJail {
  readonly jail: Jail;
  readonly profile: JailProfile;
}

/**
 * The strongest jail that works here. Undefined: none does, which is a warning in the log.
 *
 * @throws Unavailable if a jail is required and does not work
 */
export async function chooseJail(options: JailOptions): Promise<ChosenJail | undefined> {
  const { mode, launcher, profile, user, readable, processes, logger, findJailFailure: find = findJailFailure } = options;
  if (mode === "off") return undefined;
  const { isRoot = process.getuid?.() === 0 } = options;
  const own = { ...profile, user };
  const ownFailure = isRoot ? await find(jailOf(launcher, own), readable) : "";
  if (ownFailure === undefined) return { jail: jailOf(launcher, own), profile: own };
  const failure = await find(jailOf(launcher, profile), readable);
  if (failure === undefined) {
    if (isRoot) logger?.warn({ op: "sandbox.jail_user" }, `${processes} keep the user root, without its capabilities: ${ownFailure}`);
    return { jail: jailOf(launcher, profile), profile };
  }
  const message = `${processes} cannot be jailed: ${failure}`;
  if (mode === "required")
    throw new Unavailable(`${message}; HEADWATER_SANDBOX_JAIL=auto runs them without a jail`, { code: "sandbox_unavailable" });
  logger?.warn({ op: "sandbox.jail" }, `${message}: code that breaks out of them has the rights of this process`);
  return undefined;
}
