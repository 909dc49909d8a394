import type { KafkaConfig } from '../../../config/kafka-config.ts';
import { type SchemaCommands, schemaCommands } from '../registry/schema-commands.ts';
import { aclCommands, type Role, topicCommands } from './topic-commands.ts';
import { topicSpecs } from './topics.ts';

/** Commands of the cluster's own tools, for an administrator. */
export interface ClusterCommands {
  /** The commands that create the topics. */
  readonly topics: readonly string[];
  /** Returns the commands that grant a user everything that a process of these roles needs, and no more. */
  acls(roles: readonly Role[], principal: string): readonly string[];
  /** The commands that register each schema. */
  readonly schemas: readonly SchemaCommands[];
}

/** The default number of replicas: there is no cluster whose brokers could be counted. */
const REPLICATION_FACTOR = 3;

/** Returns the commands to set up the cluster by hand. */
export function clusterCommands(kafka: KafkaConfig): ClusterCommands {
  const { brokers, replicationFactor } = kafka;
  return {
    topics: topicCommands(topicSpecs(kafka, replicationFactor ?? REPLICATION_FACTOR), brokers),
    acls: (roles, principal) => aclCommands(roles, { ...kafka, principal }),
    schemas: schemaCommands(kafka),
  };
}
