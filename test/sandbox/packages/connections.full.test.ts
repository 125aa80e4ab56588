import { withPostgres } from "../../support/postgres.ts";
import { connectionCases } from "./connection-cases.ts";
import { startAll } from "./servers/listen.ts";
import { startMongo } from "./servers/mongo.ts";
import { startMqtt } from "./servers/mqtt.ts";
import { startMysql } from "./servers/mysql.ts";
import { startRedis } from "./servers/redis.ts";
import { startSmtp } from "./servers/smtp.ts";
import { testPackages } from "./suite.ts";

const postgres = withPostgres();

/** Clients with connections of their own, installed from the registry and bundled by the builder, in the sandbox. */
testPackages(connectionCases, async () => {
  const { ports, stop } = await startAll({ mongo: startMongo, mqtt: startMqtt, mysql: startMysql, redis: startRedis, smtp: startSmtp });
  return { servers: { ...ports, http: "", postgres: postgres.url }, stop };
});
