export const text = { title: "Workflows" } as const;
