import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import vm from "node:vm";
import { onTestFinished } from "vitest";
import type { HeadwaterError } from "../../../domain/errors.ts";
import { createBuilder, type Builder, type BuilderOptions } from "../../../builder/builder.ts";
import { installPackages } from "../../../builder/npm/install-packages.ts";
import type { Inspection, Inspector, StoredBundle } from "../../../builder/ports.ts";

export interface OpenBuilder {
  readonly builder: Builder;
  readonly directory: string;
  /** Content of the bundle store: name → text. */
  readonly stored: Map<string, string>;
  /** Inspections so far. */
  inspections(): number;
}

/**
 * A builder with a folder of its own; removed when the test ends. It installs packages in this process, which is quick: a process of their own
 * loads npm's libraries each time. It cannot end an install; `openWholeBuilder` can.
 */
export function openBuilder(options: Partial<BuilderOptions> = {}): Promise<OpenBuilder> {
  return openWholeBuilder({ performInstall: installPackages, ...options });
}

/** The same, as in production: each install has a process of its own. */
export async function openWholeBuilder(options: Partial<BuilderOptions> = {}): Promise<OpenBuilder> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "headwater-builder-")));
  const stored = new Map<string, string>();
  let inspections = 0;
  const inspector: Inspector = {
    inspect: (request) => {
      inspections += 1;
      return plainInspector.inspect(request);
    },
  };
  const bundles = {
    keep: async (hash: string) => stored.has(hash),
    store: async ({ hash, text, map }: StoredBundle) => {
      stored.set(`${hash}.map`, Buffer.from(map).toString());
      stored.set(hash, Buffer.from(text).toString());
    },
  };
  const builder = await createBuilder({ inspector, bundles, ...options, directory });
  onTestFinished(async () => {
    await builder.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return { builder, directory, stored, inspections: () => inspections };
}

export type AtEnd = (close: () => Promise<void>) => void;

/** A server on this machine, closed when the test ends, or as `atEnd` says. @returns its origin */
export async function listen(listener: RequestListener, atEnd: AtEnd = onTestFinished): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns what `work` throws. */
export async function failure(work: Promise<unknown>): Promise<HeadwaterError & { details: Record<string, unknown> }> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error("it did not throw");
  return outcome as HeadwaterError & { details: Record<string, unknown> };
}

/** Evaluates a bundle and returns the component that it registers. For our own bundles only: node:vm is no boundary. */
export async function evaluate(text: string): Promise<Record<string, unknown>> {
  const require = createRequire(import.meta.url);
  let registered: { default?: Record<string, unknown> } = {};
  const context = vm.createContext({
    __register: (namespace: typeof registered, ...thrown: readonly unknown[]) => {
      if (thrown.length > 0) throw thrown[0];
      registered = namespace;
    },
    __builtin: (name: string) => require(`node:${name}`) as unknown,
    Buffer,
    process,
    console,
    setTimeout,
    clearTimeout,
    queueMicrotask,
    fetch,
    URL,
    URLSearchParams,
    TextEncoder,
    TextDecoder,
    AbortController,
    AbortSignal,
    Blob,
    FormData,
    Headers,
    Request,
    Response,
    ReadableStream,
    WritableStream,
    TransformStream,
    Event,
    EventTarget,
  });
  await vm.runInContext(text, context, { filename: "component.js" });
  return registered.default ?? {};
}

/** Replaces the sandbox in tests of the builder alone: reads the name and whether there is a `run`. */
const plainInspector: Inspector = {
  async inspect({ bundle, timeoutMs }): Promise<Inspection> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("late")), timeoutMs);
    try {
      const component = await Promise.race([evaluate(await readFile(bundle.path, "utf8")), late]);
      if (typeof component["run"] !== "function")
        return { outcome: "rejected", code: "no_run", message: "the component has no function 'run'" };
      return {
        outcome: "read",
        definition: {
          name: String(component["name"]),
          type: "source",
          props: [],
          hooks: [],
          hasAdditionalProps: false,
        },
      };
    } catch (error) {
      // Errors of another realm are no `instanceof Error`; their fields are the same.
      const { name, message, stack } = error as Error;
      return message === "late"
        ? {
            outcome: "rejected",
            code: "evaluation_timeout",
            message: `the module was still evaluating after ${timeoutMs} ms`,
          }
        : {
            outcome: "rejected",
            code: "evaluation_error",
            message: `${name}: ${message}`,
            ...(stack ? { stack } : {}),
          };
    } finally {
      clearTimeout(timer);
    }
  },
};
