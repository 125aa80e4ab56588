import { Unavailable } from "../../domain/errors.ts";
import { isTlsError } from "../tls/client-files.ts";

/** SQLSTATE classes and codes of transient errors: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const transientCodes = /^(08...|53...|57P0[1-5]|57014|25006|40001|40P01)$/;
const networkErrors = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
/** Messages of pg without a code. */
const connectionLostMessages =
  /Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout|not queryable|Cannot use a pool after|client was closed/i;

/** Messages of pg without a code: the server speaks no TLS. */
const refusedTls = /does not support SSL|establishing an SSL connection/;

/**
 * Maps errors for which a retry makes sense (connection lost, server starting, deadlock, timeout) to Unavailable; returns others unchanged.
 */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (isTlsError(error) || refusedTls.test(error.message))
    return new Unavailable(`no TLS connection to Postgres: ${error.message}`, { code: "database_unavailable", cause: error });
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (/unsupported startup parameter/.test(error.message))
    return new Unavailable(
      "DATABASE_URL is a pooler that refuses the settings of a session: set HEADWATER_DATABASE_POOLER=transaction (chart: postgres.pooler)",
      { code: "database_unavailable", cause: error },
    );
  if (!transientCodes.test(code) && !networkErrors.test(code) && !connectionLostMessages.test(error.message)) return error;
  return new Unavailable(`Postgres is unavailable (${code || error.message}): try again`, {
    code: "database_unavailable",
    cause: error,
  });
}
