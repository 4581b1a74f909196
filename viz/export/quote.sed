# Makes C strings of page.html: what stands before the line @DATA@, and what after it.
s/[\\"]/\\&/g
s/.*/"&\\n"/
s/^"@DATA@\\n"$/;\nconst char fov_page_after[] =/
1i const char fov_page_before[] =
$a ;
