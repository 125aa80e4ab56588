import type { Definition } from "../command.ts";
import { usageFailure } from "../failure.ts";
import { readConfig, writeConfig } from "../profile/config-file.ts";
import { defaultProfileName } from "../profile/config-file.ts";

export const command: Definition = {
  description: "Removes a stored profile with its key, by default the current one. The key stays valid: `hw keys revoke` ends it.",
  examples: [{ command: "hw logout --profile work", does: "Remove the profile work." }],
  operations: [],
  isOffline: true,
  run: async ({ env, out, profileName }) => {
    const config = await readConfig(env);
    const name = profileName ?? config.current ?? defaultProfileName;
    if (config.profiles[name] === undefined) throw usageFailure(`there is no stored profile "${name}"`, "`hw profiles` lists them");
    const profiles = Object.fromEntries(Object.entries(config.profiles).filter(([each]) => each !== name));
    await writeConfig(env, { current: config.current === name ? undefined : config.current, profiles });
    await out.done({ data: { name } }, `profile ${name} removed`);
  },
};
