import { completionScripts, shells } from "../completion/scripts.ts";
import type { Definition } from "../command.ts";
import { usageFailure } from "../failure.ts";

export const command: Definition = {
  description: "Prints a script for your shell, which completes commands, options, and the names and ids of your sources and more.",
  arguments: [{ name: "<shell>", description: "bash, zsh or fish", choices: shells }],
  examples: [
    { command: "hw completion bash", does: "Print the script. In ~/.bashrc: source <(hw completion bash)" },
    { command: "hw completion fish", does: "Print the script for fish." },
  ],
  operations: [],
  isOffline: true,
  run: async ({ out }, given) => {
    const shell = shells.find((each) => each === given.text("shell"));
    if (shell === undefined) throw usageFailure(`shells are: ${shells.join(", ")}`);
    await out.line(completionScripts[shell].trimEnd());
  },
};
