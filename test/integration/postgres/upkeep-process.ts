import { startUpkeep } from "../../../delivery/record/upkeep.ts";
import { createDatabase } from "../../../platform/postgres/connection.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";

/** A process to be killed: upkeep of the history at the address in its arguments, in batches of the size in the next one. */
const [url = "", batch = ""] = process.argv.slice(2);
process.once("disconnect", () => process.exit());
const history = createHistory(createDatabase({ url, applicationName: "upkeep to be killed" }), { deletionBatch: Number(batch) });
startUpkeep(history, { warn: (_, message) => process.stderr.write(`${message}\n`) });
