/** Command blocks that a suite could type and none does yet. Add none: type the block, and take it off. */
export const UNTYPED: readonly string[] = [
  'README.md, "Publish events", block 2',
  'docs/deploy.md, "On Kafka", block 2',
  'docs/deploy.md, "On Kafka"',
  'docs/deploy.md, "With PostgreSQL", block 2',
  'docs/deploy.md, "With PostgreSQL"',
  'docs/operate/postgres.md, "After a restore"',
  'docs/operate/postgres.md, "Backup and restore"',
  'docs/operate/tasks.md, "Move from SQLite to PostgreSQL"',
  'docs/producers.md, "Try it", block 2',
  'docs/producers.md, "Try it", block 3',
  'docs/producers.md, "Try it", block 4',
  'docs/producers.md, "Try it"',
  'docs/simulator.md, "Check everything", block 2',
  'docs/simulator.md, "Check everything"',
];
