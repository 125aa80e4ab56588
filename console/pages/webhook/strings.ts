export const text = { title: "Webhook" } as const;
