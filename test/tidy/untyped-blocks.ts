/** Command blocks that a suite could type and none does yet. Add none: type the block, and take it off. */
export const UNTYPED: readonly string[] = [
  'docs/deploy.md, "On Kafka"',
  'docs/deploy.md, "With PostgreSQL", block 2',
  'docs/deploy.md, "With PostgreSQL"',
  'docs/operate/postgres.md, "After a restore"',
  'docs/operate/postgres.md, "Backup and restore"',
  'docs/operate/tasks.md, "Move from SQLite to PostgreSQL"',
];
