/** The one job that the document's examples speak of; the tests make it and ask for it. */
export const example = {
  id: '019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70',
  assetId: '019aa5b2-9f10-7c41-8a2b-3d4e5f607182',
  createdAt: new Date('2026-11-21T12:00:00Z'),
  completedAt: new Date('2026-11-21T12:00:09Z'),
} as const;
