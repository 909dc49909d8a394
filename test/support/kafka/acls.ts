import kafkajs, { type AclEntry, type Admin } from 'kafkajs';

// A default import: Node does not see these as named exports of the package.
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const OPERATIONS = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
} as const;

/** Parses a `kafka-acls.sh` line as Kafka's own tool does. Throws on an option that hookrail never prints. */
function aclsOf(line: string): AclEntry[] {
  const words = line.trim().split(/\s+/);
  if (words.shift() !== 'kafka-acls.sh') throw new Error(`not a kafka-acls.sh line: ${line}`);
  const operations: AclEntry['operation'][] = [];
  const resources: { readonly resourceType: AclEntry['resourceType']; readonly resourceName: string }[] = [];
  let principal = '';
  let resourcePatternType = ResourcePatternTypes.LITERAL;
  for (let option = words.shift(); option !== undefined; option = words.shift()) {
    if (option === '--add') continue;
    if (option === '--cluster') {
      resources.push({ resourceType: AclResourceTypes.CLUSTER, resourceName: 'kafka-cluster' });
      continue;
    }
    const value = words.shift() ?? '';
    if (option === '--allow-principal') principal = value;
    else if (option === '--operation') operations.push(OPERATIONS[value as keyof typeof OPERATIONS]);
    else if (option === '--topic')
      resources.push({ resourceType: AclResourceTypes.TOPIC, resourceName: value });
    else if (option === '--group')
      resources.push({ resourceType: AclResourceTypes.GROUP, resourceName: value });
    else if (option === '--resource-pattern-type' && value === 'prefixed')
      resourcePatternType = ResourcePatternTypes.PREFIXED;
    else if (option !== '--bootstrap-server') throw new Error(`unknown option ${option}: ${line}`);
  }
  const rest = { principal, host: '*', permissionType: AclPermissionTypes.ALLOW, resourcePatternType };
  return resources.flatMap((resource) =>
    operations.map((operation) => ({ ...rest, ...resource, operation })),
  );
}

/** Creates the ACLs of the lines. */
export async function addAcls(admin: Admin, lines: readonly string[]): Promise<void> {
  await admin.createAcls({ acl: lines.flatMap(aclsOf) });
}

/** Deletes the ACLs of the lines. */
export async function removeAcls(admin: Admin, lines: readonly string[]): Promise<void> {
  await admin.deleteAcls({ filters: lines.flatMap(aclsOf) });
}
