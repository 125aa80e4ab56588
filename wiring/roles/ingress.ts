import { randomBytes } from "node:crypto";
import { newId } from "../../domain/ids.ts";
import { ingressDefaults } from "../../ingress/ports.ts";
import { startIngress } from "../../ingress/start.ts";
import { createBoundedServer } from "../../platform/http/bounded-server.ts";
import { RequestBodies } from "../../platform/http/request-bodies.ts";
import { followAdmission } from "../../platform/jetstream/members/admission.ts";
import { RunAnswers } from "../../platform/jetstream/requests/run-answers.ts";
import { openEndpointDirectory } from "../../platform/jetstream/buckets/endpoint-directory.ts";
import { followOverQuota } from "../../platform/jetstream/buckets/quotas.ts";
import { createIngressMetrics } from "../../platform/telemetry/ingress-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { natsOf } from "../connections.ts";
import type { RoleContext, StartedRole } from "../context.ts";

/** Of all bodies that are arriving. */
const arrivingBytes = 32 * 2 ** 20;

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration, logger } = context;
  const { connection, release } = await natsOf(context);
  const answers = new RunAnswers(connection);
  answers.start();
  const endpoints = await openEndpointDirectory(connection);
  const overQuota = await followOverQuota(connection);
  const admission = await followAdmission(connection, configuration.backlog);
  const config = {
    ...ingressDefaults,
    ...configuration.ingressListen,
    trustedProxies: configuration.trustedProxies,
    maxConnections: configuration.maxConnections,
    basePath: new URL(configuration.ingressUrl).pathname.replace(/\/$/, ""),
    bodyLimitBytes: configuration.httpBodyLimitBytes,
  };
  const ingress = await startIngress(config, {
    endpoints,
    invocations: { publish: async (subject, pack) => void (await connection.publisher.publish(subject, pack)) },
    answers,
    admission: admission.gate,
    overQuota: overQuota.blockedUntil,
    newRunId: () => newId("run", randomBytes),
    onAnswered: createIngressMetrics(processMetrics()),
    createServer: createBoundedServer,
    bodies: new RequestBodies(arrivingBytes),
    log: logger,
    traces: context.traces,
  });
  return {
    stop: async (signal) => {
      await ingress.stop(signal);
      await endpoints.stop();
      await overQuota.stop();
      await admission.stop();
      answers.stop();
      await release();
    },
  };
}
