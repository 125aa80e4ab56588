export const text = { title: "Organization" } as const;
