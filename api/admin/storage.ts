import { z } from "zod";
import { forecastOf, forecastStates, type DiskForecast } from "../../domain/limits/disk-forecast.ts";
import type { Answered } from "../http/response/answered.ts";
import { ok } from "../http/response/replies.ts";
import { all } from "../http/response/schemas.ts";
import type { ApiPorts } from "../ports.ts";
import { adminOperation } from "./context.ts";
import type { StreamReport } from "./ports.ts";

const storageSchema = z
  .object({
    name: z.string().describe("Of the stream; buckets and the object store are streams too. `postgres`: the database."),
    kind: z.enum(["stream", "database"]),
    bytes: z.int(),
    limit_bytes: z
      .int()
      .nullable()
      .describe("Its limit or intended share; of the database, its size with the free bytes of its disk. Null: none, or unknown."),
    forecast: z.enum(forecastStates).describe("`steady`: it does not grow. `unknown`: there are too few samples, of less than six hours."),
    bytes_per_day: z.int().nullable().describe("Of `growing`: how much it grows."),
    full_at: z
      .int()
      .nullable()
      .describe("Of `growing`: when it reaches the limit if it grows as in the samples, epoch milliseconds. Null: not within a year."),
  })
  .meta({ id: "StorageUse", description: "Bytes in use, and a linear forecast from samples of the last two weeks." });

export const adminStorageOperations = [
  adminOperation({
    route: "GET /storage",
    id: "listStorage",
    summary: "List how full streams, buckets and the database are, and when they will be full",
    responses: all(storageSchema),
    handle: async (_call, { ports }) => ok((await readStorage((await ports.installation.read()).streams, ports)).map(storageResponse)),
  }),
];

export interface StorageUse {
  readonly name: string;
  readonly kind: "stream" | "database";
  readonly bytes: number;
  readonly limitBytes: number | null;
  readonly forecast: DiskForecast;
}

type StoragePorts = Pick<ApiPorts, "diskSamples" | "freeDiskBytes" | "clock">;

/** @throws Unavailable when Postgres does not respond */
export async function readStorage(
  streams: readonly StreamReport[],
  { diskSamples, freeDiskBytes, clock }: StoragePorts,
): Promise<readonly StorageUse[]> {
  const [{ databaseBytes, ofDatabase, ofStreams }, freeBytes] = await Promise.all([diskSamples.read(), freeDiskBytes?.()]);
  const now = clock.now();
  const useOf = (use: Omit<StorageUse, "forecast">, stored: typeof ofDatabase): StorageUse => ({
    ...use,
    forecast: forecastOf([...stored.filter(({ atMs }) => atMs < now), { atMs: now, bytes: use.bytes }], use.limitBytes),
  });
  const limitBytes = freeBytes === undefined ? null : databaseBytes + freeBytes;
  return [
    useOf({ name: "postgres", kind: "database", bytes: databaseBytes, limitBytes }, ofDatabase),
    ...streams.map(({ name, bytes, limitBytes: limit }) =>
      useOf({ name, kind: "stream", bytes, limitBytes: limit }, ofStreams.get(name) ?? []),
    ),
  ];
}

function storageResponse({ name, kind, bytes, limitBytes, forecast }: StorageUse): Answered<typeof storageSchema> {
  const grows = forecast.state === "growing";
  return {
    name,
    kind,
    bytes,
    limit_bytes: limitBytes,
    forecast: forecast.state,
    bytes_per_day: grows ? forecast.bytesPerDay : null,
    full_at: grows ? forecast.fullAtMs : null,
  };
}
