export const text = { title: "Webhooks" } as const;
