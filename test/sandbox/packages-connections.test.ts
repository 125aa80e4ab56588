import { withPostgres } from "../support/postgres.ts";
import { connectionCases } from "./packages/connection-cases.ts";
import { startAll } from "./packages/listen.ts";
import { startMongo } from "./packages/mongo.ts";
import { startMqtt } from "./packages/mqtt.ts";
import { startMysql } from "./packages/mysql.ts";
import { startRedis } from "./packages/redis.ts";
import { startSmtp } from "./packages/smtp.ts";
import { testPackages } from "./packages/suite.ts";

const postgres = withPostgres();

/** Clients with connections of their own, installed from the registry and bundled by the builder, in the sandbox. */
testPackages(connectionCases, async () => {
  const { ports, stop } = await startAll({ mongo: startMongo, mqtt: startMqtt, mysql: startMysql, redis: startRedis, smtp: startSmtp });
  return { servers: { ...ports, http: "", postgres: postgres.url }, stop };
});
