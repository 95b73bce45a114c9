# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names that a policy may use: closed lists in RustFS (crates/policy/src/policy), read at 1.0.0-rc.3."""

from __future__ import annotations

_ACTIONS = {
    "admin": """
        AddUserToGroup AttachUserOrGroupPolicy BandwidthMonitor CancelBatchJob CommitTable ConfigUpdate ConsoleLog
        CreatePolicy CreateServiceAccount CreateTable CreateUser DataUsageInfo Decommission DeletePolicy DeleteTable
        DeleteTableNamespace DeleteUser DescribeBatchJob DisableGroup DisableUser EnableGroup EnableUser
        ExportBucketMetadata ExportIAM ForceUnlock GetBucketTarget GetGroup GetMetrics GetPolicy
        GetReplicationMetrics GetTable GetTableBucket GetTableCatalog GetTableCredentials GetTableLifecycle
        GetTableMetadata GetTableMetadataLocation GetTableNamespace GetUser Heal ImportBucketMetadata ImportIAM
        InspectData LicenseInfo ListBatchJobs ListGroups ListServiceAccounts ListTemporaryAccounts ListTier
        ListUserPolicies ListUsers MigrateTableCatalog OBDInfo Profiling Prometheus Rebalance RegisterTable
        RemoveServiceAccount RemoveUserFromGroup ReplicationDiff RunTableMaintenance ServerInfo ServerTrace
        ServerUpdate ServiceFreeze ServiceRestart ServiceStop SetBucketQuota SetBucketTarget SetTable SetTableBucket
        SetTableLifecycle SetTableMetadata SetTableMetadataLocation SetTableNamespace SetTier SiteReplicationAdd
        SiteReplicationDisable SiteReplicationInfo SiteReplicationOperation SiteReplicationRemove
        SiteReplicationResync StartBatchJob StorageInfo TopLocksInfo UpdatePolicyAssociation UpdateServiceAccount
        UpdateTableNamespaceProperties
    """.split(),
    "kms": """
        Backup ClearCache Configure Decrypt DeleteKey DescribeKey DisableKey EnableKey GenerateDataKey ListKeys
        Restore RotateKey ServiceControl TagResource UntagResource UpdateKeyDescription
    """.split(),
    "s3": """
        AbortMultipartUpload BypassGovernanceRetention CreateBucket DeleteBucket DeleteBucketCors DeleteBucketPolicy
        DeleteBucketPublicAccessBlock DeleteObject DeleteObjectTagging DeleteObjectVersion
        DeleteObjectVersionTagging ForceDeleteBucket GetBucketAcl GetBucketCors GetBucketEncryption
        GetBucketLifecycle GetBucketLocation GetBucketLogging GetBucketNotification GetBucketObjectLockConfiguration
        GetBucketPolicy GetBucketPolicyStatus GetBucketPublicAccessBlock GetBucketQuota GetBucketTagging
        GetBucketVersioning GetObject GetObjectAcl GetObjectAttributes GetObjectLegalHold GetObjectRetention
        GetObjectTagging GetObjectVersion GetObjectVersionAttributes GetObjectVersionForReplication
        GetObjectVersionTagging GetReplicationConfiguration HeadBucket ListAllMyBuckets ListBucket
        ListBucketMultipartUploads ListBucketVersions ListMultipartUploadParts ListenBucketNotification
        ListenNotification PutBucketAcl PutBucketCors PutBucketEncryption PutBucketLifecycle PutBucketLogging
        PutBucketNotification PutBucketObjectLockConfiguration PutBucketPolicy PutBucketPublicAccessBlock
        PutBucketTagging PutBucketVersioning PutObject PutObjectAcl PutObjectFanOut PutObjectLegalHold
        PutObjectRetention PutObjectTagging PutObjectVersionTagging PutReplicationConfiguration ReplicateDelete
        ReplicateObject ReplicateTags ResetBucketReplicationState RestoreObject
    """.split(),
    "sts": """
        AssumeRole
    """.split(),
}

_KEYS = {
    "aws": """
        CurrentTime EpochTime Referer SecureTransport SourceAccount SourceArn SourceIp UserAgent groups
        principaltype userid username
    """.split(),
    "jwt": """
        address aud birthdate client_id email family_name gender given_name groups iss jti middle_name name nickname
        phone_number picture preferred_username profile roles scope sub upn website
    """.split(),
    "ldap": """
        groups user username
    """.split(),
    "s3": """
        ExistingObjectTag LocationConstraint RequestObjectTag RequestObjectTagKeys VersionId authType delimiter
        max-keys object-lock-mode object-lock-retain-until-date prefix signatureAge signatureversion versionid
        x-amz-acl x-amz-content-sha256 x-amz-copy-source x-amz-grant-full-control x-amz-grant-read
        x-amz-grant-read-acp x-amz-grant-write x-amz-grant-write-acp x-amz-metadata-directive
        x-amz-server-side-encryption x-amz-server-side-encryption-customer-algorithm x-amz-storage-class
    """.split(),
    "sts": """
        DurationSeconds
    """.split(),
    "svc": """
        DurationSeconds
    """.split(),
}

ACTIONS = frozenset(f"{family}:{name}" for family, names in _ACTIONS.items() for name in [*names, "*"])
"""Every action with its family; a family's `*` is the only wildcard."""

CONDITION_KEYS = frozenset(f"{family}:{name}" for family, names in _KEYS.items() for name in names)
"""Every condition key with its family. A key may be followed by a slash and a name, as in s3:ExistingObjectTag/team."""

_STRINGS = "StringEquals StringNotEquals StringEqualsIgnoreCase StringNotEqualsIgnoreCase StringLike StringNotLike"
_ARNS = "ArnEquals ArnNotEquals ArnLike ArnNotLike"
_COMPARISONS = "Equals NotEquals LessThan LessThanEquals GreaterThan GreaterThanEquals".split()

OPERATORS = {
    **dict.fromkeys([*_STRINGS.split(), *_ARNS.split()], "string"),
    **{f"Numeric{name}": "number" for name in _COMPARISONS},
    **{f"Date{name}": "date" for name in _COMPARISONS},
    "BinaryEquals": "binary",
    "IpAddress": "address",
    "NotIpAddress": "address",
    "Bool": "bool",
    "Null": "bool",
}
"""Every condition operator with the kind of its values. Each may end with IfExists."""

QUALIFIERS = ("ForAllValues", "ForAnyValue")
"""What may stand before an operator and a colon; in the order in which the server writes them."""

LISTINGS = frozenset({"s3:ListBucket", "s3:ListBucketVersions", "s3:ListBucketMultipartUploads"})
"""The actions for which prefix, delimiter and max-keys of the query are conditions."""
