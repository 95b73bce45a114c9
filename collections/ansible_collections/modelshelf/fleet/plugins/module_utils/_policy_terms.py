# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The closed lists of RustFS's policy language: actions, condition operators and condition keys.

Names as RustFS 1.0.0-rc.3 knows them (crates/policy: action, function/condition, function/key_name). It refuses
every other name, wildcards in actions included, where AWS would take them.
"""

from __future__ import annotations

VERSION = "2012-10-17"
"""The only version of the language that RustFS takes."""

ACTIONS: dict[str, frozenset[str]] = {
    "s3": frozenset(
        """
    * AbortMultipartUpload BypassGovernanceRetention CreateBucket DeleteBucket DeleteBucketCors
    DeleteBucketPolicy DeleteBucketPublicAccessBlock DeleteObject DeleteObjectTagging DeleteObjectVersion
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
        """.split()
    ),
    "admin": frozenset(
        """
    * AddUserToGroup AttachUserOrGroupPolicy BandwidthMonitor CancelBatchJob CommitTable ConfigUpdate ConsoleLog
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
        """.split()
    ),
    "kms": frozenset(
        """
    * Backup ClearCache Configure Decrypt DeleteKey DescribeKey DisableKey EnableKey GenerateDataKey ListKeys
    Restore RotateKey ServiceControl TagResource UntagResource UpdateKeyDescription
        """.split()
    ),
    "sts": frozenset(
        """
    * AssumeRole
        """.split()
    ),
}
"""Families of actions with the names after the colon. A statement must not mix families."""

CONDITION_KEYS: frozenset[str] = frozenset(
    """
    aws:CurrentTime aws:EpochTime aws:Referer aws:SecureTransport aws:SourceAccount aws:SourceArn aws:SourceIp
    aws:UserAgent aws:groups aws:principaltype aws:userid aws:username jwt:address jwt:aud jwt:birthdate
    jwt:client_id jwt:email jwt:family_name jwt:gender jwt:given_name jwt:groups jwt:iss jwt:jti jwt:middle_name
    jwt:name jwt:nickname jwt:phone_number jwt:picture jwt:preferred_username jwt:profile jwt:roles jwt:scope
    jwt:sub jwt:upn jwt:website ldap:groups ldap:user ldap:username s3:ExistingObjectTag s3:LocationConstraint
    s3:RequestObjectTag s3:RequestObjectTagKeys s3:VersionId s3:authType s3:delimiter s3:max-keys
    s3:object-lock-mode s3:object-lock-retain-until-date s3:prefix s3:signatureAge s3:signatureversion
    s3:versionid s3:x-amz-acl s3:x-amz-content-sha256 s3:x-amz-copy-source s3:x-amz-grant-full-control
    s3:x-amz-grant-read s3:x-amz-grant-read-acp s3:x-amz-grant-write s3:x-amz-grant-write-acp
    s3:x-amz-metadata-directive s3:x-amz-server-side-encryption
    s3:x-amz-server-side-encryption-customer-algorithm s3:x-amz-storage-class sts:DurationSeconds
    svc:DurationSeconds
    """.split()
)
"""Case matters. A key may be followed by a slash and a name, such as s3:ExistingObjectTag/team."""

KEY_SPELLINGS = {"s3:VersionId": "s3:versionid"}
"""Spellings that the server takes, and how it gives them back."""

OPERATORS: dict[str, str] = {
    "StringEquals": "string",
    "StringNotEquals": "string",
    "StringEqualsIgnoreCase": "string",
    "StringNotEqualsIgnoreCase": "string",
    "StringLike": "string",
    "StringNotLike": "string",
    "ArnEquals": "string",
    "ArnNotEquals": "string",
    "ArnLike": "string",
    "ArnNotLike": "string",
    "NumericEquals": "number",
    "NumericNotEquals": "number",
    "NumericLessThan": "number",
    "NumericLessThanEquals": "number",
    "NumericGreaterThan": "number",
    "NumericGreaterThanEquals": "number",
    "DateEquals": "date",
    "DateNotEquals": "date",
    "DateLessThan": "date",
    "DateLessThanEquals": "date",
    "DateGreaterThan": "date",
    "DateGreaterThanEquals": "date",
    "Bool": "bool",
    "Null": "bool",
    "IpAddress": "address",
    "NotIpAddress": "address",
    "BinaryEquals": "binary",
}
"""Operators with the kind of their values. Each may be preceded by a quantifier and followed by IfExists."""

QUANTIFIERS = ("ForAnyValue", "ForAllValues")
