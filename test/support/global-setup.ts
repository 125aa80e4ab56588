import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { killOwnChildren } from "../../platform/process/own-children.ts";
import { startPostgres } from "../../platform/process/postgres/postgres.ts";
import { startKubeBroker } from "./kube/kube-broker.ts";
import { createUsers } from "./postgres-users.ts";
import { startSystemBroker } from "./system/system-broker.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Address of the Postgres that all test files of a run share; DATABASE_URL when it is set. */
    postgresUrl: string;
    /** Name of a database on it with all tables, which the first file that needs it creates (postgres.ts). */
    migratedTemplate: string;
    /** URL of the broker of API servers (kube/kube-broker.ts). */
    kubeBroker: string;
    /** URL of the broker of the shared system (system/system-broker.ts). */
    systemBroker: string;
  }
}

/** Starts one Postgres for the run, and Kubernetes API servers and a whole system when a file asks for one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // A run that is ended by a signal has no teardown.
  process.once("exit", killOwnChildren);
  // Once for all files: each start would build it otherwise.
  execFileSync(process.execPath, [join(import.meta.dirname, "..", "..", "scripts", "console.ts"), "--if-changed"]);
  const broker = await startKubeBroker();
  project.provide("kubeBroker", broker.url);
  const systemBroker = await startSystemBroker();
  project.provide("systemBroker", systemBroker.url);
  const endPostgres = await providePostgres(project);
  return async () => {
    await Promise.all([broker.stop(), systemBroker.stop(), endPostgres()]);
  };
}

/** Starts Postgres without fsync. Each file creates its own database on it (see postgres.ts). */
async function providePostgres(project: TestProject): Promise<() => Promise<void>> {
  const template = `test_template_${randomBytes(6).toString("hex")}`;
  project.provide("migratedTemplate", template);
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") {
    await createUsers(given);
    project.provide("postgresUrl", given);
    return () => dropDatabase(given, template);
  }
  if (process.env["HEADWATER_TEST_POSTGRES"] === "none") {
    project.provide("postgresUrl", "");
    return async () => undefined;
  }
  const directory = await temporaryDirectory("postgres");
  const server = await startPostgres({ dataDirectory: join(directory.path, "postgres"), durable: false });
  await createUsers(server.url);
  project.provide("postgresUrl", server.url);
  return async () => {
    await server.stop();
    await directory.remove();
  };
}

async function dropDatabase(server: string, name: string): Promise<void> {
  const admin = new pg.Client(server);
  await admin.connect();
  try {
    await admin.query(`drop database if exists ${name}`);
  } finally {
    await admin.end();
  }
}
