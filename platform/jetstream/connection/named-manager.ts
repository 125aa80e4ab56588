import type { JetStreamManager, StoredMsg, StreamConfig, StreamInfo, StreamSource } from "@nats-io/jetstream";
import { renamed } from "./named-nats.ts";
import type { WireNames } from "./wire-names.ts";

/** What is used of the client's API for streams and consumers. */
export interface StreamManager {
  readonly streams: Pick<JetStreamManager["streams"], "info" | "add" | "update" | "delete" | "purge" | "getMessage" | "deleteMessage"> & {
    list(): AsyncIterable<StreamInfo>;
  };
  readonly consumers: Pick<JetStreamManager["consumers"], "info" | "add" | "update" | "delete" | "list" | "reset">;
  readonly direct: Pick<JetStreamManager["direct"], "getMessage" | "getBatch" | "getLastMessagesFor">;
}

/** The same API under the names of `domain/subjects.ts`. Streams of other installations are not listed. */
export function namedManager(manager: JetStreamManager, names: WireNames): StreamManager {
  const { streams, consumers } = manager;
  return {
    streams: {
      info: async (stream, options) => infoUnderOwnNames(await streams.info(names.stream(stream), wireFilter(options, names)), names),
      add: async (config) => infoUnderOwnNames(await streams.add({ ...wireConfig(config, names), name: names.stream(config.name) }), names),
      update: async (stream, config) => infoUnderOwnNames(await streams.update(names.stream(stream), wireConfig(config, names)), names),
      delete: (stream) => streams.delete(names.stream(stream)),
      purge: (stream, options) => streams.purge(names.stream(stream), wireFilter(options, names)),
      getMessage: async (stream, query) => ownMessage(await streams.getMessage(names.stream(stream), wireFilter(query, names)), names),
      deleteMessage: (stream, seq, erase) => streams.deleteMessage(names.stream(stream), seq, erase),
      list: () => listOwn(manager, names),
    },
    consumers: {
      info: async (stream, name) => {
        const info = await consumers.info(names.stream(stream), name);
        return { ...info, config: convertFilters(info.config, names.subjectOf) };
      },
      add: (stream, config, options) => consumers.add(names.stream(stream), wireFilter(config, names), options),
      update: (stream, name, config) => consumers.update(names.stream(stream), name, wireFilter(config, names)),
      delete: (stream, name) => consumers.delete(names.stream(stream), name),
      list: (stream) => consumers.list(names.stream(stream)),
      reset: (stream, name, seq) => consumers.reset(names.stream(stream), name, seq),
    },
    direct: namedDirect(manager, names),
  };
}

function namedDirect({ direct }: JetStreamManager, names: WireNames): StreamManager["direct"] {
  type Messages = Awaited<ReturnType<typeof direct.getBatch>>;
  const own = (messages: Messages): Messages => {
    const each = async function* (): AsyncIterator<StoredMsg> {
      for await (const message of messages) yield renamed(message, names);
    };
    return Object.create(messages, { [Symbol.asyncIterator]: { value: each } }) as Messages; // All that `messages` has.
  };
  return {
    getMessage: async (stream, query) => ownMessage(await direct.getMessage(names.stream(stream), wireFilter(query, names)), names),
    getBatch: async (stream, query) => own(await direct.getBatch(names.stream(stream), wireFilter(query, names))),
    getLastMessagesFor: async (stream, query) => own(await direct.getLastMessagesFor(names.stream(stream), wireFilter(query, names))),
  };
}

async function* listOwn({ streams }: JetStreamManager, names: WireNames): AsyncGenerator<StreamInfo> {
  for await (const info of streams.list()) if (names.streamOf(info.config.name) !== undefined) yield infoUnderOwnNames(info, names);
}

const ownMessage = (message: StoredMsg | null, names: WireNames): StoredMsg | null => (message === null ? null : renamed(message, names));

/** Fields of requests and of consumers that hold subjects. */
const filters = ["filter", "subjects_filter", "filter_subject", "filter_subjects", "last_by_subj", "next_by_subj", "multi_last"];

const wireFilter = <T extends object | undefined>(options: T, names: WireNames): T =>
  options === undefined ? options : convertFilters(options, names.subject);

function convertFilters<T extends object>(options: T, subject: Convert): T {
  const convert = (value: unknown): unknown =>
    typeof value === "string" ? subject(value) : Array.isArray(value) ? value.map(convert) : value;
  const entries = Object.entries(options).map(([key, value]) => [key, filters.includes(key) ? convert(value) : value]);
  return Object.fromEntries(entries) as T; // The same fields, with values of the same types.
}

/** The configuration of a stream as NATS has it. */
export function wireConfig<T extends Partial<StreamConfig>>(config: T, names: WireNames): T {
  return convertConfig(config, names.stream, names.subject);
}

function infoUnderOwnNames(info: StreamInfo, names: WireNames): StreamInfo {
  const ownStream = (wire: string): string => names.streamOf(wire) ?? wire;
  const { subjects } = info.state;
  const counts = subjects === undefined ? {} : { subjects: renamedKeys(subjects, names) };
  return { ...info, config: convertConfig(info.config, ownStream, names.subjectOf), state: { ...info.state, ...counts } };
}

const renamedKeys = <T>(counts: Readonly<Record<string, T>>, names: WireNames): Record<string, T> =>
  Object.fromEntries(Object.entries(counts).map(([subject, count]) => [names.subjectOf(subject), count]));

type Convert = (name: string) => string;

function convertConfig<T extends Partial<StreamConfig>>(config: T, stream: Convert, subject: Convert): T {
  const { name, subjects, sources, republish } = config;
  return {
    ...config,
    ...(name === undefined ? {} : { name: stream(name) }),
    ...(subjects === undefined ? {} : { subjects: subjects.map(subject) }),
    ...(sources === undefined ? {} : { sources: sources.map((source): StreamSource => ({ ...source, name: stream(source.name) })) }),
    ...(republish === undefined ? {} : { republish: { ...republish, src: subject(republish.src), dest: subject(republish.dest) } }),
  };
}
