/** A change is published when its row is gone: no number says up to which. */
export const outboxById = `
DELETE FROM meta WHERE name = 'published_up_to';
`;
