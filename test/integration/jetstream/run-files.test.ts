import { runFilesConformance } from "../../conformance/run-files.ts";
import { partitionCount } from "../../../domain/subjects.ts";
import { createRunFiles } from "../../../platform/jetstream/files/run-files.ts";
import { withJetStream } from "./support.ts";

/** The files of runs on a real stream. */
const nats = withJetStream({ partitions: partitionCount });
let count = 0;
runFilesConformance(async () => {
  const open = () => createRunFiles(nats.connection, async () => ({ release: () => undefined }));
  const run = { owner: "u_one", workflow: "p_one", run: `r_${++count}` };
  const otherRuns = [
    { ...run, owner: "u_two" },
    { ...run, workflow: "p_two" },
    { ...run, run: `r_other${count}` },
  ];
  return { files: open(), others: open(), run, otherRuns };
});
