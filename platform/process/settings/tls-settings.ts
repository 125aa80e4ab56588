import { z } from "zod";
import { plaintextServers, publicAuthorities } from "./encryption.ts";
import { optionalSetting, setting } from "./settings.ts";

/** Settings of certificates and authorities. All files are PEM, and are read again when they change. */
export const tlsSettings = {
  HEADWATER_SERVER_CERTIFICATE: optionalSetting(z.string(), {
    unit: "file",
    reason: "certificate (PEM) of the API and of the endpoints, which are then HTTPS only; default: plain HTTP",
  }),
  HEADWATER_SERVER_KEY: optionalSetting(z.string(), {
    unit: "file",
    reason: "private key (PEM) of HEADWATER_SERVER_CERTIFICATE",
  }),
  HEADWATER_NATS_CA: optionalSetting(z.string(), {
    unit: "file, or public",
    reason: `certificates (PEM) of the authorities that NATS is verified with; ${publicAuthorities}: the public ones. Default: no TLS, except with tls:// in NATS_URL`,
  }),
  HEADWATER_NATS_CERTIFICATE: optionalSetting(z.string(), {
    unit: "file",
    reason: "client certificate (PEM) for NATS; default: none",
  }),
  HEADWATER_NATS_KEY: optionalSetting(z.string(), {
    unit: "file",
    reason: "private key (PEM) of HEADWATER_NATS_CERTIFICATE",
  }),
  HEADWATER_DATABASE_CA: optionalSetting(z.string(), {
    unit: "file, or public",
    reason: `certificates (PEM) of the authorities that Postgres is verified with, as sslmode=verify-full; ${publicAuthorities}: the public ones. Default: as sslmode in DATABASE_URL`,
  }),
  HEADWATER_DATABASE_CERTIFICATE: optionalSetting(z.string(), {
    unit: "file",
    reason: "client certificate (PEM) for Postgres; default: none",
  }),
  HEADWATER_DATABASE_KEY: optionalSetting(z.string(), {
    unit: "file",
    reason: "private key (PEM) of HEADWATER_DATABASE_CERTIFICATE",
  }),
  HEADWATER_PLAINTEXT: setting(plaintextServers, {
    unit: "nats, postgres, by comma",
    default: "",
    reason: "servers on other machines that a process in a cluster may reach without TLS; default: none, and the process refuses to start",
  }),
  HEADWATER_WEBHOOK_CA: optionalSetting(z.string(), {
    unit: "file",
    reason: "certificates (PEM) of private authorities that deliveries to webhooks and $.send.http trust besides the public ones",
  }),
  HEADWATER_SMTP_CA: optionalSetting(z.string(), {
    unit: "file",
    reason: "certificates (PEM) of private authorities that HEADWATER_SMTP_URL is verified with, besides the public ones",
  }),
  HEADWATER_S3_CA: optionalSetting(z.string(), {
    unit: "file",
    reason: "certificates (PEM) of private authorities that HEADWATER_S3_URL is verified with, besides the public ones",
  }),
  OTEL_EXPORTER_OTLP_CERTIFICATE: optionalSetting(z.string(), {
    unit: "file",
    reason: "certificates (PEM) of private authorities that OTEL_EXPORTER_OTLP_ENDPOINT is verified with, besides the public ones",
  }),
};
