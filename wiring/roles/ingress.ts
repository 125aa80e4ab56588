import { randomBytes } from "node:crypto";
import { uploadId } from "../../domain/files/file-url.ts";
import { newId } from "../../domain/ids.ts";
import { emailDefaults } from "../../ingress/email/ports.ts";
import { ingressDefaults, type IngressConfig, type IngressPorts } from "../../ingress/ports.ts";
import { startIngress } from "../../ingress/start.ts";
import { RequestBodies } from "../../platform/http/request-bodies.ts";
import { followAdmission } from "../../platform/jetstream/members/admission.ts";
import { openEndpointDirectory } from "../../platform/jetstream/buckets/endpoint-directory.ts";
import { followOverQuota } from "../../platform/jetstream/buckets/quotas.ts";
import { packPublisher } from "../../platform/jetstream/invocations/publish-invocation.ts";
import { EmailAuthenticator } from "../../platform/mail/email-authenticator.ts";
import { EmailReader } from "../../platform/mail/email-reader.ts";
import { startSmtpListener } from "../../platform/mail/smtp-listener.ts";
import { createIngressMetrics } from "../../platform/telemetry/ingress-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { openNats, startAnswers } from "../connections.ts";
import { openRunFiles } from "../run-files.ts";
import { boundedServers, certificateOf } from "../http-servers.ts";
import { disposeWith, type RoleContext, type StartedRole } from "../context.ts";

/** In place of a pool, in requests for what an owner has stored. */
const usageRequester = "ingress";
/** Bound on bytes of request bodies that are being received. */
const maxArrivingBytes = 32 * 2 ** 20;

export async function start(context: RoleContext): Promise<StartedRole> {
  const opened = new AsyncDisposableStack();
  const connection = await openNats(context, opened);
  const ingress = await startIngress(ingressConfig(context), await ingressPorts(context, connection, opened));
  return {
    stop: async (signal) => {
      await ingress.stop(signal);
      await opened.disposeAsync();
    },
  };
}

const ingressConfig = ({ configuration }: RoleContext): IngressConfig => ({
  ...ingressDefaults,
  ...configuration.ingressListen,
  trustedProxies: configuration.trustedProxies,
  maxConnections: configuration.maxConnections,
  basePath: new URL(configuration.ingressUrl).pathname.replace(/\/$/, ""),
  publicUrl: configuration.ingressUrl,
  bodyLimitBytes: configuration.httpBodyLimitBytes,
  uploadLimitBytes: configuration.httpUploadLimitBytes,
});

async function ingressPorts(context: RoleContext, connection: Connection, opened: AsyncDisposableStack): Promise<IngressPorts> {
  const answers = startAnswers(connection, opened);
  const endpoints = disposeWith(opened, await openEndpointDirectory(connection));
  const overQuota = disposeWith(opened, await followOverQuota(connection));
  const admission = disposeWith(opened, await followAdmission(connection, context.configuration.backlog));
  return {
    endpoints,
    invocations: { publish: packPublisher(connection) },
    answers,
    admission: admission.gate,
    overQuota: overQuota.blockedUntil,
    newRunId: () => newId("run", randomBytes),
    onAnswered: createIngressMetrics(processMetrics()),
    createServer: boundedServers(context),
    bodies: new RequestBodies(maxArrivingBytes),
    files: { ...openRunFiles(connection, usageRequester), newUploadId: () => uploadId(randomBytes(16).toString("hex")) },
    email: emailPorts(context, opened),
    log: context.logger,
    traces: context.traces,
  };
}

function emailPorts(context: RoleContext, opened: AsyncDisposableStack): IngressPorts["email"] {
  const { email } = context.configuration;
  if (email === undefined) return undefined;
  const { domain, listen, dns, messageLimitBytes, files } = email;
  const certificate = certificateOf(files, context);
  const reader = disposeWith(opened, new EmailReader());
  const authenticator = dns === undefined ? undefined : disposeWith(opened, new EmailAuthenticator(dns, context.logger));
  return {
    config: { ...emailDefaults, ...listen, domain, maxMessageBytes: messageLimitBytes },
    start: (config, handlers) => startSmtpListener(config, handlers, context.logger, certificate),
    parse: (raw) => reader.read(raw),
    authenticate: authenticator === undefined ? undefined : (mail, from) => authenticator.authenticate(mail, from),
    now: () => performance.now(),
  };
}
