import { z } from "zod";
import { parseFields, type Frame, type FrameLimits } from "../frames.ts";

/**
 * Messages between a runner and its process host. Beside the connection that carries them is another one, on which the runner passes
 * descriptors.
 *
 *     host connects twice ──▶ `hello` ──▶ `start`, `kill` ◀──▶ `started`, `usage`, `exited` ──▶ one end closes: all processes end
 */
export type ToHost =
  /** Its descriptors 2, 3 and 4 have been passed before, each with the number `id`. */
  | { readonly kind: "start"; readonly id: number; readonly command: readonly string[]; readonly isLowPriority: boolean }
  | { readonly kind: "kill"; readonly id: number };

/** The container of the host: what processes may share. */
export interface HostResources {
  /** Null without a limit. */
  readonly memoryLimitBytes: number | null;
  readonly memoryBytes: number;
  readonly cores: number;
}

/** The runner takes them for those of an attacker: sandbox processes have the user of the host. */
export type FromHost =
  /** Once, as the first. */
  | { readonly kind: "hello"; readonly resources: HostResources }
  | { readonly kind: "started"; readonly id: number; readonly pid: number }
  /** Regularly, also without processes. */
  | { readonly kind: "usage"; readonly processes: readonly (readonly [id: number, residentBytes: number, mainThreadCpuMs: number])[] }
  | { readonly kind: "exited"; readonly id: number; readonly how: string };

export const toHostLimits: FrameLimits<ToHost["kind"]> = { start: 256 * 1024, kill: 1024 };
export const fromHostLimits: FrameLimits<FromHost["kind"]> = { hello: 1024, started: 1024, usage: 64 * 1024, exited: 8 * 1024 };

export const usageIntervalMs = 100;
const maxHowCharacters = 1_000;

const id = z.int().min(1).max(0xffff_ffff);
const bytes = z.int().min(0);
const schemas = {
  hello: z.strictObject({
    resources: z.strictObject({
      memoryLimitBytes: bytes.nullable(),
      memoryBytes: bytes,
      cores: z.int().min(1).max(4_096),
    }),
  }),
  started: z.strictObject({ id, pid: z.int().min(1).max(0x7fff_ffff) }),
  usage: z.strictObject({ processes: z.array(z.tuple([id, bytes, z.number().min(0)])).max(1_024) }),
  exited: z.strictObject({ id, how: z.string().max(maxHowCharacters) }),
} satisfies { readonly [Kind in FromHost["kind"]]: z.ZodType<Omit<Extract<FromHost, { kind: Kind }>, "kind">> };

export const boundedHow = (how: string): string => how.slice(0, maxHowCharacters);

/** @throws ProtocolViolation if it is not a message of a process host */
export function parseFromHost({ kind, text }: Frame<FromHost["kind"]>): FromHost {
  return { kind, ...parseFields<object>(schemas[kind], kind, text) } as FromHost; // The schema is that of its kind.
}
