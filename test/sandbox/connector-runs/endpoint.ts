/** The endpoint of each source with a webhook. */
export const endpoint = "https://hooks.headwater.example/piece";
