export const text = { title: "Workflow" } as const;
