import { createDatabase } from "../../../platform/postgres/connection.ts";
import { startSender } from "./mail-world.ts";

/** A process to be killed: sends mails about errors from the database to the SMTP server in its arguments. */
const [url = "", port = ""] = process.argv.slice(2);
process.once("disconnect", () => process.exit());
startSender(createDatabase({ url, applicationName: "sender to be killed" }), { port: Number(port) });
